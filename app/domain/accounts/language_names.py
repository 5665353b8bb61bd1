"""English names of languages by code, printed by ``make docs`` from the CLDR.

The Unicode locale data (CLDR) is Unicode's, under its license: https://www.unicode.org/license.txt
"""

TEXT = """\
AA Afar; AA_DJ Afar (Djibouti); AA_ER Afar (Eritrea); AA_ET Afar (Ethiopia); AB Abkhazian; AB_GE
Abkhazian (Georgia); AF Afrikaans; AF_NA Afrikaans (Namibia); AF_ZA Afrikaans (South Africa); AGQ
Aghem; AGQ_CM Aghem (Cameroon); AK Akan; AK_GH Akan (Ghana); AM Amharic; AM_ET Amharic (Ethiopia);
AN Aragonese; AN_ES Aragonese (Spain); ANN Obolo; ANN_NG Obolo (Nigeria); APC apc; APC_SY apc_SY;
AR Arabic; AR_AE Arabic (United Arab Emirates); AR_BH Arabic (Bahrain); AR_DJ Arabic (Djibouti);
AR_DZ Arabic (Algeria); AR_EG Arabic (Egypt); AR_EH Arabic (Western Sahara); AR_ER Arabic
(Eritrea); AR_IL Arabic (Israel); AR_IQ Arabic (Iraq); AR_JO Arabic (Jordan); AR_KM Arabic
(Comoros); AR_KW Arabic (Kuwait); AR_LB Arabic (Lebanon); AR_LY Arabic (Libya); AR_MA Arabic
(Morocco); AR_MR Arabic (Mauritania); AR_OM Arabic (Oman); AR_PS Arabic (Palestinian Territories);
AR_QA Arabic (Qatar); AR_SA Arabic (Saudi Arabia); AR_SD Arabic (Sudan); AR_SO Arabic (Somalia);
AR_SS Arabic (South Sudan); AR_SY Arabic (Syria); AR_TD Arabic (Chad); AR_TN Arabic (Tunisia);
AR_YE Arabic (Yemen); ARN Mapuche; ARN_CL Mapuche (Chile); AS Assamese; AS_IN Assamese (India); ASA
Asu; ASA_TZ Asu (Tanzania); AST Asturian; AST_ES Asturian (Spain); AZ Azerbaijani; AZ_ARAB
Azerbaijani (Arabic); AZ_ARAB_IQ Azerbaijani (Arabic, Iraq); AZ_ARAB_IR Azerbaijani (Arabic, Iran);
AZ_ARAB_TR Azerbaijani (Arabic, Türkiye); AZ_CYRL Azerbaijani (Cyrillic); AZ_CYRL_AZ Azerbaijani
(Cyrillic, Azerbaijan); AZ_LATN Azerbaijani (Latin); AZ_LATN_AZ Azerbaijani (Latin, Azerbaijan); BA
Bashkir; BA_RU Bashkir (Russia); BAL Baluchi; BAL_ARAB Baluchi (Arabic); BAL_ARAB_PK Baluchi
(Arabic, Pakistan); BAL_LATN Baluchi (Latin); BAL_LATN_PK Baluchi (Latin, Pakistan); BAS Basaa;
BAS_CM Basaa (Cameroon); BE Belarusian; BE_BY Belarusian (Belarus); BE_TARASK Belarusian
(Taraskievica orthography); BEM Bemba; BEM_ZM Bemba (Zambia); BEW Betawi; BEW_ID Betawi
(Indonesia); BEZ Bena; BEZ_TZ Bena (Tanzania); BG Bulgarian; BG_BG Bulgarian (Bulgaria); BGC
Haryanvi; BGC_IN Haryanvi (India); BGN Western Balochi; BGN_AE Western Balochi (United Arab
Emirates); BGN_AF Western Balochi (Afghanistan); BGN_IR Western Balochi (Iran); BGN_OM Western
Balochi (Oman); BGN_PK Western Balochi (Pakistan); BHO Bhojpuri; BHO_IN Bhojpuri (India); BLO Anii;
BLO_BJ Anii (Benin); BLT Tai Dam; BLT_VN Tai Dam (Vietnam); BM Bambara; BM_ML Bambara (Mali);
BM_NKOO Bambara (N’Ko); BM_NKOO_ML Bambara (N’Ko, Mali); BN Bangla; BN_BD Bangla (Bangladesh);
BN_IN Bangla (India); BO Tibetan; BO_CN Tibetan (China); BO_IN Tibetan (India); BR Breton; BR_FR
Breton (France); BRX Bodo; BRX_IN Bodo (India); BS Bosnian; BS_CYRL Bosnian (Cyrillic); BS_CYRL_BA
Bosnian (Cyrillic, Bosnia & Herzegovina); BS_LATN Bosnian (Latin); BS_LATN_BA Bosnian (Latin,
Bosnia & Herzegovina); BSS Akoose; BSS_CM Akoose (Cameroon); BYN Blin; BYN_ER Blin (Eritrea); CA
Catalan; CA_AD Catalan (Andorra); CA_ES Catalan (Spain); CA_ES_VALENCIA Catalan (Spain, Valencian);
CA_FR Catalan (France); CA_IT Catalan (Italy); CAD Caddo; CAD_US Caddo (United States); CCH Atsam;
CCH_NG Atsam (Nigeria); CCP Chakma; CCP_BD Chakma (Bangladesh); CCP_IN Chakma (India); CE Chechen;
CE_RU Chechen (Russia); CEB Cebuano; CEB_PH Cebuano (Philippines); CGG Chiga; CGG_UG Chiga
(Uganda); CHO Choctaw; CHO_US Choctaw (United States); CHR Cherokee; CHR_US Cherokee (United
States); CIC Chickasaw; CIC_US Chickasaw (United States); CKB Central Kurdish; CKB_IQ Central
Kurdish (Iraq); CKB_IR Central Kurdish (Iran); CO Corsican; CO_FR Corsican (France); COP Coptic;
COP_EG Coptic (Egypt); CS Czech; CS_CZ Czech (Czechia); CSW Swampy Cree; CSW_CA Swampy Cree
(Canada); CU Church Slavic; CU_RU Church Slavic (Russia); CV Chuvash; CV_RU Chuvash (Russia); CY
Welsh; CY_GB Welsh (United Kingdom); DA Danish; DA_DK Danish (Denmark); DA_GL Danish (Greenland);
DAV Taita; DAV_KE Taita (Kenya); DE German; DE_AT German (Austria); DE_BE German (Belgium); DE_CH
German (Switzerland); DE_DE German (Germany); DE_IT German (Italy); DE_LI German (Liechtenstein);
DE_LU German (Luxembourg); DJE Zarma; DJE_NE Zarma (Niger); DOI Dogri; DOI_IN Dogri (India); DSB
Lower Sorbian; DSB_DE Lower Sorbian (Germany); DUA Duala; DUA_CM Duala (Cameroon); DV Divehi; DV_MV
Divehi (Maldives); DYO Jola-Fonyi; DYO_SN Jola-Fonyi (Senegal); DZ Dzongkha; DZ_BT Dzongkha
(Bhutan); EBU Embu; EBU_KE Embu (Kenya); EE Ewe; EE_GH Ewe (Ghana); EE_TG Ewe (Togo); EL Greek;
EL_CY Greek (Cyprus); EL_GR Greek (Greece); EL_POLYTON Greek (Polytonic); EN English; EN_AE English
(United Arab Emirates); EN_AG English (Antigua & Barbuda); EN_AI English (Anguilla); EN_AS English
(American Samoa); EN_AT English (Austria); EN_AU English (Australia); EN_BB English (Barbados);
EN_BE English (Belgium); EN_BI English (Burundi); EN_BM English (Bermuda); EN_BS English (Bahamas);
EN_BW English (Botswana); EN_BZ English (Belize); EN_CA English (Canada); EN_CC English (Cocos
(Keeling) Islands); EN_CH English (Switzerland); EN_CK English (Cook Islands); EN_CM English
(Cameroon); EN_CX English (Christmas Island); EN_CY English (Cyprus); EN_CZ English (Czechia);
EN_DE English (Germany); EN_DG English (Diego Garcia); EN_DK English (Denmark); EN_DM English
(Dominica); EN_DSRT English (Deseret); EN_DSRT_US English (Deseret, United States); EN_ER English
(Eritrea); EN_ES English (Spain); EN_FI English (Finland); EN_FJ English (Fiji); EN_FK English
(Falkland Islands); EN_FM English (Micronesia); EN_FR English (France); EN_GB English (United
Kingdom); EN_GD English (Grenada); EN_GG English (Guernsey); EN_GH English (Ghana); EN_GI English
(Gibraltar); EN_GM English (Gambia); EN_GS English (South Georgia & South Sandwich Islands); EN_GU
English (Guam); EN_GY English (Guyana); EN_HK English (Hong Kong SAR China); EN_HU English
(Hungary); EN_ID English (Indonesia); EN_IE English (Ireland); EN_IL English (Israel); EN_IM
English (Isle of Man); EN_IN English (India); EN_IO English (British Indian Ocean Territory); EN_IT
English (Italy); EN_JE English (Jersey); EN_JM English (Jamaica); EN_KE English (Kenya); EN_KI
English (Kiribati); EN_KN English (St. Kitts & Nevis); EN_KY English (Cayman Islands); EN_LC
English (St. Lucia); EN_LR English (Liberia); EN_LS English (Lesotho); EN_MG English (Madagascar);
EN_MH English (Marshall Islands); EN_MO English (Macao SAR China); EN_MP English (Northern Mariana
Islands); EN_MS English (Montserrat); EN_MT English (Malta); EN_MU English (Mauritius); EN_MV
English (Maldives); EN_MW English (Malawi); EN_MY English (Malaysia); EN_NA English (Namibia);
EN_NF English (Norfolk Island); EN_NG English (Nigeria); EN_NL English (Netherlands); EN_NO English
(Norway); EN_NR English (Nauru); EN_NU English (Niue); EN_NZ English (New Zealand); EN_PG English
(Papua New Guinea); EN_PH English (Philippines); EN_PK English (Pakistan); EN_PL English (Poland);
EN_PN English (Pitcairn Islands); EN_PR English (Puerto Rico); EN_PT English (Portugal); EN_PW
English (Palau); EN_RO English (Romania); EN_RW English (Rwanda); EN_SB English (Solomon Islands);
EN_SC English (Seychelles); EN_SD English (Sudan); EN_SE English (Sweden); EN_SG English
(Singapore); EN_SH English (St. Helena); EN_SI English (Slovenia); EN_SK English (Slovakia); EN_SL
English (Sierra Leone); EN_SS English (South Sudan); EN_SX English (Sint Maarten); EN_SZ English
(Eswatini); EN_SHAW English (Shavian); EN_SHAW_GB English (Shavian, United Kingdom); EN_TC English
(Turks & Caicos Islands); EN_TK English (Tokelau); EN_TO English (Tonga); EN_TT English (Trinidad &
Tobago); EN_TV English (Tuvalu); EN_TZ English (Tanzania); EN_UG English (Uganda); EN_UM English
(U.S. Outlying Islands); EN_US English (United States); EN_VC English (St. Vincent & Grenadines);
EN_VG English (British Virgin Islands); EN_VI English (U.S. Virgin Islands); EN_VU English
(Vanuatu); EN_WS English (Samoa); EN_ZA English (South Africa); EN_ZM English (Zambia); EN_ZW
English (Zimbabwe); EO Esperanto; ES Spanish; ES_AR Spanish (Argentina); ES_BO Spanish (Bolivia);
ES_BR Spanish (Brazil); ES_BZ Spanish (Belize); ES_CL Spanish (Chile); ES_CO Spanish (Colombia);
ES_CR Spanish (Costa Rica); ES_CU Spanish (Cuba); ES_DO Spanish (Dominican Republic); ES_EA Spanish
(Ceuta & Melilla); ES_EC Spanish (Ecuador); ES_ES Spanish (Spain); ES_GQ Spanish (Equatorial
Guinea); ES_GT Spanish (Guatemala); ES_HN Spanish (Honduras); ES_IC Spanish (Canary Islands); ES_MX
Spanish (Mexico); ES_NI Spanish (Nicaragua); ES_PA Spanish (Panama); ES_PE Spanish (Peru); ES_PH
Spanish (Philippines); ES_PR Spanish (Puerto Rico); ES_PY Spanish (Paraguay); ES_SV Spanish (El
Salvador); ES_US Spanish (United States); ES_UY Spanish (Uruguay); ES_VE Spanish (Venezuela); ET
Estonian; ET_EE Estonian (Estonia); EU Basque; EU_ES Basque (Spain); EWO Ewondo; EWO_CM Ewondo
(Cameroon); FA Persian; FA_AF Persian (Afghanistan); FA_IR Persian (Iran); FF Fula; FF_ADLM Fula
(Adlam); FF_ADLM_BF Fula (Adlam, Burkina Faso); FF_ADLM_CM Fula (Adlam, Cameroon); FF_ADLM_GH Fula
(Adlam, Ghana); FF_ADLM_GM Fula (Adlam, Gambia); FF_ADLM_GN Fula (Adlam, Guinea); FF_ADLM_GW Fula
(Adlam, Guinea-Bissau); FF_ADLM_LR Fula (Adlam, Liberia); FF_ADLM_MR Fula (Adlam, Mauritania);
FF_ADLM_NE Fula (Adlam, Niger); FF_ADLM_NG Fula (Adlam, Nigeria); FF_ADLM_SL Fula (Adlam, Sierra
Leone); FF_ADLM_SN Fula (Adlam, Senegal); FF_LATN Fula (Latin); FF_LATN_BF Fula (Latin, Burkina
Faso); FF_LATN_CM Fula (Latin, Cameroon); FF_LATN_GH Fula (Latin, Ghana); FF_LATN_GM Fula (Latin,
Gambia); FF_LATN_GN Fula (Latin, Guinea); FF_LATN_GW Fula (Latin, Guinea-Bissau); FF_LATN_LR Fula
(Latin, Liberia); FF_LATN_MR Fula (Latin, Mauritania); FF_LATN_NE Fula (Latin, Niger); FF_LATN_NG
Fula (Latin, Nigeria); FF_LATN_SL Fula (Latin, Sierra Leone); FF_LATN_SN Fula (Latin, Senegal); FI
Finnish; FI_FI Finnish (Finland); FIL Filipino; FIL_PH Filipino (Philippines); FO Faroese; FO_DK
Faroese (Denmark); FO_FO Faroese (Faroe Islands); FR French; FR_BE French (Belgium); FR_BF French
(Burkina Faso); FR_BI French (Burundi); FR_BJ French (Benin); FR_BL French (St. Barthélemy); FR_CA
French (Canada); FR_CD French (Congo - Kinshasa); FR_CF French (Central African Republic); FR_CG
French (Congo - Brazzaville); FR_CH French (Switzerland); FR_CI French (Côte d’Ivoire); FR_CM
French (Cameroon); FR_DJ French (Djibouti); FR_DZ French (Algeria); FR_FR French (France); FR_GA
French (Gabon); FR_GF French (French Guiana); FR_GN French (Guinea); FR_GP French (Guadeloupe);
FR_GQ French (Equatorial Guinea); FR_HT French (Haiti); FR_KM French (Comoros); FR_LU French
(Luxembourg); FR_MA French (Morocco); FR_MC French (Monaco); FR_MF French (St. Martin); FR_MG
French (Madagascar); FR_ML French (Mali); FR_MQ French (Martinique); FR_MR French (Mauritania);
FR_MU French (Mauritius); FR_NC French (New Caledonia); FR_NE French (Niger); FR_PF French (French
Polynesia); FR_PM French (St. Pierre & Miquelon); FR_RE French (Réunion); FR_RW French (Rwanda);
FR_SC French (Seychelles); FR_SN French (Senegal); FR_SY French (Syria); FR_TD French (Chad); FR_TG
French (Togo); FR_TN French (Tunisia); FR_VU French (Vanuatu); FR_WF French (Wallis & Futuna);
FR_YT French (Mayotte); FRR Northern Frisian; FRR_DE Northern Frisian (Germany); FUR Friulian;
FUR_IT Friulian (Italy); FY Western Frisian; FY_NL Western Frisian (Netherlands); GA Irish; GA_GB
Irish (United Kingdom); GA_IE Irish (Ireland); GAA Ga; GAA_GH Ga (Ghana); GD Scottish Gaelic; GD_GB
Scottish Gaelic (United Kingdom); GEZ Geez; GEZ_ER Geez (Eritrea); GEZ_ET Geez (Ethiopia); GL
Galician; GL_ES Galician (Spain); GN Guarani; GN_PY Guarani (Paraguay); GSW Swiss German; GSW_CH
Swiss German (Switzerland); GSW_FR Swiss German (France); GSW_LI Swiss German (Liechtenstein); GU
Gujarati; GU_IN Gujarati (India); GUZ Gusii; GUZ_KE Gusii (Kenya); GV Manx; GV_IM Manx (Isle of
Man); HA Hausa; HA_ARAB Hausa (Arabic); HA_ARAB_NG Hausa (Arabic, Nigeria); HA_ARAB_SD Hausa
(Arabic, Sudan); HA_GH Hausa (Ghana); HA_NE Hausa (Niger); HA_NG Hausa (Nigeria); HAW Hawaiian;
HAW_US Hawaiian (United States); HE Hebrew; HE_IL Hebrew (Israel); HI Hindi; HI_IN Hindi (India);
HI_LATN Hindi (Latin); HI_LATN_IN Hindi (Latin, India); HNJ Hmong Njua; HNJ_HMNP Hmong Njua
(Nyiakeng Puachue Hmong); HNJ_HMNP_US Hmong Njua (Nyiakeng Puachue Hmong, United States); HR
Croatian; HR_BA Croatian (Bosnia & Herzegovina); HR_HR Croatian (Croatia); HSB Upper Sorbian;
HSB_DE Upper Sorbian (Germany); HT Haitian Creole; HT_HT Haitian Creole (Haiti); HU Hungarian;
HU_HU Hungarian (Hungary); HY Armenian; HY_AM Armenian (Armenia); IA Interlingua; ID Indonesian;
ID_ID Indonesian (Indonesia); IE Interlingue; IE_EE Interlingue (Estonia); IG Igbo; IG_NG Igbo
(Nigeria); II Sichuan Yi; II_CN Sichuan Yi (China); IO Ido; IS Icelandic; IS_IS Icelandic
(Iceland); IT Italian; IT_CH Italian (Switzerland); IT_IT Italian (Italy); IT_SM Italian (San
Marino); IT_VA Italian (Vatican City); IU Inuktitut; IU_CA Inuktitut (Canada); IU_LATN Inuktitut
(Latin); IU_LATN_CA Inuktitut (Latin, Canada); JA Japanese; JA_JP Japanese (Japan); JBO Lojban; JGO
Ngomba; JGO_CM Ngomba (Cameroon); JMC Machame; JMC_TZ Machame (Tanzania); JV Javanese; JV_ID
Javanese (Indonesia); KA Georgian; KA_GE Georgian (Georgia); KAA Kara-Kalpak; KAA_CYRL Kara-Kalpak
(Cyrillic); KAA_CYRL_UZ Kara-Kalpak (Cyrillic, Uzbekistan); KAA_LATN Kara-Kalpak (Latin);
KAA_LATN_UZ Kara-Kalpak (Latin, Uzbekistan); KAB Kabyle; KAB_DZ Kabyle (Algeria); KAJ Jju; KAJ_NG
Jju (Nigeria); KAM Kamba; KAM_KE Kamba (Kenya); KCG Tyap; KCG_NG Tyap (Nigeria); KDE Makonde;
KDE_TZ Makonde (Tanzania); KEA Kabuverdianu; KEA_CV Kabuverdianu (Cape Verde); KEN Kenyang; KEN_CM
Kenyang (Cameroon); KGP Kaingang; KGP_BR Kaingang (Brazil); KHQ Koyra Chiini; KHQ_ML Koyra Chiini
(Mali); KI Kikuyu; KI_KE Kikuyu (Kenya); KK Kazakh; KK_ARAB Kazakh (Arabic); KK_ARAB_CN Kazakh
(Arabic, China); KK_CYRL Kazakh (Cyrillic); KK_CYRL_KZ Kazakh (Cyrillic, Kazakhstan); KK_KZ Kazakh
(Kazakhstan); KKJ Kako; KKJ_CM Kako (Cameroon); KL Kalaallisut; KL_GL Kalaallisut (Greenland); KLN
Kalenjin; KLN_KE Kalenjin (Kenya); KM Khmer; KM_KH Khmer (Cambodia); KN Kannada; KN_IN Kannada
(India); KO Korean; KO_CN Korean (China); KO_KP Korean (North Korea); KO_KR Korean (South Korea);
KOK Konkani; KOK_DEVA Konkani (Devanagari); KOK_DEVA_IN Konkani (Devanagari, India); KOK_LATN
Konkani (Latin); KOK_LATN_IN Konkani (Latin, India); KPE Kpelle; KPE_GN Kpelle (Guinea); KPE_LR
Kpelle (Liberia); KS Kashmiri; KS_ARAB Kashmiri (Arabic); KS_ARAB_IN Kashmiri (Arabic, India);
KS_DEVA Kashmiri (Devanagari); KS_DEVA_IN Kashmiri (Devanagari, India); KSB Shambala; KSB_TZ
Shambala (Tanzania); KSF Bafia; KSF_CM Bafia (Cameroon); KSH Colognian; KSH_DE Colognian (Germany);
KU Kurdish; KU_TR Kurdish (Türkiye); KW Cornish; KW_GB Cornish (United Kingdom); KXV Kuvi; KXV_DEVA
Kuvi (Devanagari); KXV_DEVA_IN Kuvi (Devanagari, India); KXV_LATN Kuvi (Latin); KXV_LATN_IN Kuvi
(Latin, India); KXV_ORYA Kuvi (Odia); KXV_ORYA_IN Kuvi (Odia, India); KXV_TELU Kuvi (Telugu);
KXV_TELU_IN Kuvi (Telugu, India); KY Kyrgyz; KY_KG Kyrgyz (Kyrgyzstan); LA Latin; LA_VA Latin
(Vatican City); LAG Langi; LAG_TZ Langi (Tanzania); LB Luxembourgish; LB_LU Luxembourgish
(Luxembourg); LG Ganda; LG_UG Ganda (Uganda); LIJ Ligurian; LIJ_IT Ligurian (Italy); LKT Lakota;
LKT_US Lakota (United States); LLD lld; LLD_IT lld_IT; LMO Lombard; LMO_IT Lombard (Italy); LN
Lingala; LN_AO Lingala (Angola); LN_CD Lingala (Congo - Kinshasa); LN_CF Lingala (Central African
Republic); LN_CG Lingala (Congo - Brazzaville); LO Lao; LO_LA Lao (Laos); LRC Northern Luri; LRC_IQ
Northern Luri (Iraq); LRC_IR Northern Luri (Iran); LT Lithuanian; LT_LT Lithuanian (Lithuania); LTG
Latgalian; LTG_LV Latgalian (Latvia); LU Luba-Katanga; LU_CD Luba-Katanga (Congo - Kinshasa); LUO
Luo; LUO_KE Luo (Kenya); LUY Luyia; LUY_KE Luyia (Kenya); LV Latvian; LV_LV Latvian (Latvia); MAI
Maithili; MAI_IN Maithili (India); MAS Masai; MAS_KE Masai (Kenya); MAS_TZ Masai (Tanzania); MDF
Moksha; MDF_RU Moksha (Russia); MER Meru; MER_KE Meru (Kenya); MFE Morisyen; MFE_MU Morisyen
(Mauritius); MG Malagasy; MG_MG Malagasy (Madagascar); MGH Makhuwa-Meetto; MGH_MZ Makhuwa-Meetto
(Mozambique); MGO Metaʼ; MGO_CM Metaʼ (Cameroon); MHN mhn; MHN_IT mhn_IT; MI Māori; MI_NZ Māori
(New Zealand); MIC Mi'kmaw; MIC_CA Mi'kmaw (Canada); MK Macedonian; MK_MK Macedonian (North
Macedonia); ML Malayalam; ML_IN Malayalam (India); MN Mongolian; MN_MN Mongolian (Mongolia);
MN_MONG Mongolian (Mongolian); MN_MONG_CN Mongolian (Mongolian, China); MN_MONG_MN Mongolian
(Mongolian, Mongolia); MNI Manipuri; MNI_BENG Manipuri (Bangla); MNI_BENG_IN Manipuri (Bangla,
India); MNI_MTEI Manipuri (Meitei Mayek); MNI_MTEI_IN Manipuri (Meitei Mayek, India); MOH Mohawk;
MOH_CA Mohawk (Canada); MR Marathi; MR_IN Marathi (India); MS Malay; MS_ARAB Malay (Arabic);
MS_ARAB_BN Malay (Arabic, Brunei); MS_ARAB_MY Malay (Arabic, Malaysia); MS_BN Malay (Brunei); MS_ID
Malay (Indonesia); MS_MY Malay (Malaysia); MS_SG Malay (Singapore); MT Maltese; MT_MT Maltese
(Malta); MUA Mundang; MUA_CM Mundang (Cameroon); MUS Muscogee; MUS_US Muscogee (United States); MY
Burmese; MY_MM Burmese (Myanmar (Burma)); MYV Erzya; MYV_RU Erzya (Russia); MZN Mazanderani; MZN_IR
Mazanderani (Iran); NAQ Nama; NAQ_NA Nama (Namibia); NB Norwegian Bokmål; NB_NO Norwegian Bokmål
(Norway); NB_SJ Norwegian Bokmål (Svalbard & Jan Mayen); ND North Ndebele; ND_ZW North Ndebele
(Zimbabwe); NDS Low German; NDS_DE Low German (Germany); NDS_NL Low German (Netherlands); NE
Nepali; NE_IN Nepali (India); NE_NP Nepali (Nepal); NL Dutch; NL_AW Dutch (Aruba); NL_BE Dutch
(Belgium); NL_BQ Dutch (Caribbean Netherlands); NL_CW Dutch (Curaçao); NL_NL Dutch (Netherlands);
NL_SR Dutch (Suriname); NL_SX Dutch (Sint Maarten); NMG Kwasio; NMG_CM Kwasio (Cameroon); NN
Norwegian Nynorsk; NN_NO Norwegian Nynorsk (Norway); NNH Ngiemboon; NNH_CM Ngiemboon (Cameroon); NO
Norwegian; NQO N’Ko; NQO_GN N’Ko (Guinea); NR South Ndebele; NR_ZA South Ndebele (South Africa);
NSO Northern Sotho; NSO_ZA Northern Sotho (South Africa); NUS Nuer; NUS_SS Nuer (South Sudan); NV
Navajo; NV_US Navajo (United States); NY Nyanja; NY_MW Nyanja (Malawi); NYN Nyankole; NYN_UG
Nyankole (Uganda); OC Occitan; OC_ES Occitan (Spain); OC_FR Occitan (France); OM Oromo; OM_ET Oromo
(Ethiopia); OM_KE Oromo (Kenya); OR Odia; OR_IN Odia (India); OS Ossetic; OS_GE Ossetic (Georgia);
OS_RU Ossetic (Russia); OSA Osage; OSA_US Osage (United States); PA Punjabi; PA_ARAB Punjabi
(Arabic); PA_ARAB_PK Punjabi (Arabic, Pakistan); PA_GURU Punjabi (Gurmukhi); PA_GURU_IN Punjabi
(Gurmukhi, India); PAP Papiamento; PAP_AW Papiamento (Aruba); PAP_CW Papiamento (Curaçao); PCM
Nigerian Pidgin; PCM_NG Nigerian Pidgin (Nigeria); PIS Pijin; PIS_SB Pijin (Solomon Islands); PL
Polish; PL_PL Polish (Poland); PRG Prussian; PRG_PL Prussian (Poland); PS Pashto; PS_AF Pashto
(Afghanistan); PS_PK Pashto (Pakistan); PT Portuguese; PT_AO Portuguese (Angola); PT_BR Portuguese
(Brazil); PT_CH Portuguese (Switzerland); PT_CV Portuguese (Cape Verde); PT_GQ Portuguese
(Equatorial Guinea); PT_GW Portuguese (Guinea-Bissau); PT_LU Portuguese (Luxembourg); PT_MO
Portuguese (Macao SAR China); PT_MZ Portuguese (Mozambique); PT_PT Portuguese (Portugal); PT_ST
Portuguese (São Tomé & Príncipe); PT_TL Portuguese (Timor-Leste); QU Quechua; QU_BO Quechua
(Bolivia); QU_EC Quechua (Ecuador); QU_PE Quechua (Peru); QUC Kʼicheʼ; QUC_GT Kʼicheʼ (Guatemala);
RAJ Rajasthani; RAJ_IN Rajasthani (India); RHG Rohingya; RHG_ROHG Rohingya (Hanifi); RHG_ROHG_BD
Rohingya (Hanifi, Bangladesh); RHG_ROHG_MM Rohingya (Hanifi, Myanmar (Burma)); RIF Riffian; RIF_MA
Riffian (Morocco); RM Romansh; RM_CH Romansh (Switzerland); RN Rundi; RN_BI Rundi (Burundi); RO
Romanian; RO_MD Romanian (Moldova); RO_RO Romanian (Romania); ROF Rombo; ROF_TZ Rombo (Tanzania);
RU Russian; RU_BY Russian (Belarus); RU_KG Russian (Kyrgyzstan); RU_KZ Russian (Kazakhstan); RU_MD
Russian (Moldova); RU_RU Russian (Russia); RU_UA Russian (Ukraine); RW Kinyarwanda; RW_RW
Kinyarwanda (Rwanda); RWK Rwa; RWK_TZ Rwa (Tanzania); SA Sanskrit; SA_IN Sanskrit (India); SAH
Yakut; SAH_RU Yakut (Russia); SAQ Samburu; SAQ_KE Samburu (Kenya); SAT Santali; SAT_DEVA Santali
(Devanagari); SAT_DEVA_IN Santali (Devanagari, India); SAT_OLCK Santali (Ol Chiki); SAT_OLCK_IN
Santali (Ol Chiki, India); SBP Sangu; SBP_TZ Sangu (Tanzania); SC Sardinian; SC_IT Sardinian
(Italy); SCN Sicilian; SCN_IT Sicilian (Italy); SD Sindhi; SD_ARAB Sindhi (Arabic); SD_ARAB_PK
Sindhi (Arabic, Pakistan); SD_DEVA Sindhi (Devanagari); SD_DEVA_IN Sindhi (Devanagari, India); SDH
Southern Kurdish; SDH_IQ Southern Kurdish (Iraq); SDH_IR Southern Kurdish (Iran); SE Northern Sami;
SE_FI Northern Sami (Finland); SE_NO Northern Sami (Norway); SE_SE Northern Sami (Sweden); SEH
Sena; SEH_MZ Sena (Mozambique); SES Koyraboro Senni; SES_ML Koyraboro Senni (Mali); SG Sango; SG_CF
Sango (Central African Republic); SHI Tachelhit; SHI_LATN Tachelhit (Latin); SHI_LATN_MA Tachelhit
(Latin, Morocco); SHI_TFNG Tachelhit (Tifinagh); SHI_TFNG_MA Tachelhit (Tifinagh, Morocco); SHN
Shan; SHN_MM Shan (Myanmar (Burma)); SHN_TH Shan (Thailand); SI Sinhala; SI_LK Sinhala (Sri Lanka);
SID Sidamo; SID_ET Sidamo (Ethiopia); SK Slovak; SK_SK Slovak (Slovakia); SKR skr; SKR_PK skr_PK;
SL Slovenian; SL_SI Slovenian (Slovenia); SMA Southern Sami; SMA_NO Southern Sami (Norway); SMA_SE
Southern Sami (Sweden); SMJ Lule Sami; SMJ_NO Lule Sami (Norway); SMJ_SE Lule Sami (Sweden); SMN
Inari Sami; SMN_FI Inari Sami (Finland); SMS Skolt Sami; SMS_FI Skolt Sami (Finland); SN Shona;
SN_ZW Shona (Zimbabwe); SO Somali; SO_DJ Somali (Djibouti); SO_ET Somali (Ethiopia); SO_KE Somali
(Kenya); SO_SO Somali (Somalia); SQ Albanian; SQ_AL Albanian (Albania); SQ_MK Albanian (North
Macedonia); SQ_XK Albanian (Kosovo); SR Serbian; SR_CYRL Serbian (Cyrillic); SR_CYRL_BA Serbian
(Cyrillic, Bosnia & Herzegovina); SR_CYRL_ME Serbian (Cyrillic, Montenegro); SR_CYRL_RS Serbian
(Cyrillic, Serbia); SR_CYRL_XK Serbian (Cyrillic, Kosovo); SR_LATN Serbian (Latin); SR_LATN_BA
Serbian (Latin, Bosnia & Herzegovina); SR_LATN_ME Serbian (Latin, Montenegro); SR_LATN_RS Serbian
(Latin, Serbia); SR_LATN_XK Serbian (Latin, Kosovo); SS Swati; SS_SZ Swati (Eswatini); SS_ZA Swati
(South Africa); SSY Saho; SSY_ER Saho (Eritrea); ST Southern Sotho; ST_LS Southern Sotho (Lesotho);
ST_ZA Southern Sotho (South Africa); SU Sundanese; SU_LATN Sundanese (Latin); SU_LATN_ID Sundanese
(Latin, Indonesia); SV Swedish; SV_AX Swedish (Åland Islands); SV_FI Swedish (Finland); SV_SE
Swedish (Sweden); SW Swahili; SW_CD Swahili (Congo - Kinshasa); SW_KE Swahili (Kenya); SW_TZ
Swahili (Tanzania); SW_UG Swahili (Uganda); SYR Syriac; SYR_IQ Syriac (Iraq); SYR_SY Syriac
(Syria); SZL Silesian; SZL_PL Silesian (Poland); TA Tamil; TA_IN Tamil (India); TA_LK Tamil (Sri
Lanka); TA_MY Tamil (Malaysia); TA_SG Tamil (Singapore); TE Telugu; TE_IN Telugu (India); TEO Teso;
TEO_KE Teso (Kenya); TEO_UG Teso (Uganda); TG Tajik; TG_TJ Tajik (Tajikistan); TH Thai; TH_TH Thai
(Thailand); TI Tigrinya; TI_ER Tigrinya (Eritrea); TI_ET Tigrinya (Ethiopia); TIG Tigre; TIG_ER
Tigre (Eritrea); TK Turkmen; TK_TM Turkmen (Turkmenistan); TN Tswana; TN_BW Tswana (Botswana);
TN_ZA Tswana (South Africa); TO Tongan; TO_TO Tongan (Tonga); TOK Toki Pona; TPI Tok Pisin; TPI_PG
Tok Pisin (Papua New Guinea); TR Turkish; TR_CY Turkish (Cyprus); TR_TR Turkish (Türkiye); TRV
Taroko; TRV_TW Taroko (Taiwan); TRW Torwali; TRW_PK Torwali (Pakistan); TS Tsonga; TS_ZA Tsonga
(South Africa); TT Tatar; TT_RU Tatar (Russia); TWQ Tasawaq; TWQ_NE Tasawaq (Niger); TYV Tuvinian;
TYV_RU Tuvinian (Russia); TZM Central Atlas Tamazight; TZM_MA Central Atlas Tamazight (Morocco); UG
Uyghur; UG_CN Uyghur (China); UK Ukrainian; UK_UA Ukrainian (Ukraine); UR Urdu; UR_IN Urdu (India);
UR_PK Urdu (Pakistan); UZ Uzbek; UZ_ARAB Uzbek (Arabic); UZ_ARAB_AF Uzbek (Arabic, Afghanistan);
UZ_CYRL Uzbek (Cyrillic); UZ_CYRL_UZ Uzbek (Cyrillic, Uzbekistan); UZ_LATN Uzbek (Latin);
UZ_LATN_UZ Uzbek (Latin, Uzbekistan); VAI Vai; VAI_LATN Vai (Latin); VAI_LATN_LR Vai (Latin,
Liberia); VAI_VAII Vai (Vai); VAI_VAII_LR Vai (Vai, Liberia); VE Venda; VE_ZA Venda (South Africa);
VEC Venetian; VEC_IT Venetian (Italy); VI Vietnamese; VI_VN Vietnamese (Vietnam); VMW Makhuwa;
VMW_MZ Makhuwa (Mozambique); VO Volapük; VUN Vunjo; VUN_TZ Vunjo (Tanzania); WA Walloon; WA_BE
Walloon (Belgium); WAE Walser; WAE_CH Walser (Switzerland); WAL Wolaytta; WAL_ET Wolaytta
(Ethiopia); WBP Warlpiri; WBP_AU Warlpiri (Australia); WO Wolof; WO_SN Wolof (Senegal); XH Xhosa;
XH_ZA Xhosa (South Africa); XNR Kangri; XNR_IN Kangri (India); XOG Soga; XOG_UG Soga (Uganda); YAV
Yangben; YAV_CM Yangben (Cameroon); YI Yiddish; YI_UA Yiddish (Ukraine); YO Yoruba; YO_BJ Yoruba
(Benin); YO_NG Yoruba (Nigeria); YRL Nheengatu; YRL_BR Nheengatu (Brazil); YRL_CO Nheengatu
(Colombia); YRL_VE Nheengatu (Venezuela); YUE Cantonese; YUE_HANS Cantonese (Simplified);
YUE_HANS_CN Cantonese (Simplified, China); YUE_HANT Cantonese (Traditional); YUE_HANT_CN Cantonese
(Traditional, China); YUE_HANT_HK Cantonese (Traditional, Hong Kong SAR China); YUE_HANT_MO
Cantonese (Traditional, Macao SAR China); ZA Zhuang; ZA_CN Zhuang (China); ZGH Standard Moroccan
Tamazight; ZGH_MA Standard Moroccan Tamazight (Morocco); ZH Chinese; ZH_HANS Chinese (Simplified);
ZH_HANS_CN Chinese (Simplified, China); ZH_HANS_HK Chinese (Simplified, Hong Kong SAR China);
ZH_HANS_MO Chinese (Simplified, Macao SAR China); ZH_HANS_MY Chinese (Simplified, Malaysia);
ZH_HANS_SG Chinese (Simplified, Singapore); ZH_HANT Chinese (Traditional); ZH_HANT_HK Chinese
(Traditional, Hong Kong SAR China); ZH_HANT_MO Chinese (Traditional, Macao SAR China); ZH_HANT_MY
Chinese (Traditional, Malaysia); ZH_HANT_TW Chinese (Traditional, Taiwan); ZH_LATN Chinese (Latin);
ZH_LATN_CN Chinese (Latin, China); ZU Zulu; ZU_ZA Zulu (South Africa)
"""  # noqa: RUF001 - their apostrophes
