"""Words that people make passwords of: what leaked lists are full of.

In lower case. Digits or signs around a word and runs of keys are left to the rules.
"""

_TEXT = """\
00112233 102030 10203040 1020304050 1029384756 112233 11223344 1122334455 123456789a 12345678a
1234567a 123456a 12345a 1314520 13579 135792468 1357924680 147258 147852 147852369 159357 159753
2468 246810 24681012 258369 258456 271828 2718281828 2pac 314159 31415926 3141592654 420
4815162342 50cent 5201314 741852 8675309 a123456 a1234567 a12345678 a123456789 a1s2d3f4 aa112233
aa123456 aa12345678 aabbcc abcnews absolut access accessgranted accord acdc ace acer aces acmilan
acura adelaide adele adidas admin administrator admiral adobe aerith aerosmith africa african
agent aguilera aini1314 airborne airforce airplane ajax alabama alaska alcohol alfa alfaromeo
algeria alice aliceinchains alien aliens allah aloha alone alonso altima always amazing amazon amd
amen america american amidala amore amour amsterdam anaconda anakin android angel angelbaby
angeleyes angelica angelina angels anger angry anhyeuem ankara anniversary ant anthrax ants
antwerpen anubis anybody anything apollo apple applepie apples apricot aragorn archer area51 ariel
arigato arizona arkansas armani army armyman arod arrow arschloch arsenal askim aslan assassin
assassins asshole assholes asslick astonvilla astros asus atari athena athens athletics atlanta
atlantis atletico attorney auckland audi august aussie australia austria author avalanche avatar
avenged avengedsevenfold avengers awesome babe baby babyboy babydoll babyface babygirl babylove
bacardi bach backdoor backstreet backstreetboys bacon bad2thebone badass badboy badboys badger
badgers badgirl badman baerchen baggins bali baltimore bambam bambi banana bananas bandit bandung
bane bangkok bank banker banking barbarian barbie barca barcelona barney baron bart bartsimpson
baseball basket basketball bass bassman bastard bat batgirl batman bats battlefield bayern
bayernmunich bazinga beach beaches beagle bear bears beatles beautiful beaver beckham becks beer
beerman bees beethoven beetle beijing belfast belgie belgium believe believer bella belle bender
benfica bengals bentley benz beograd beretta bergen berlin besiktas bestfriend bestfriends beyonce
bible bicycle bieber bigbangtheory bigben bigbird bigboobs bigboss bigboy bigcock bigdaddy bigdick
bigdog bigfoot biggie biglove bigmac bigman bigone bigred bigtime bigtits bike biker bilbo
bildschirm billabong billion billionaire bills bingo biology bird birdie birds birmingham birthday
biscuit bitch bitches bitchy bitcoin biteme blackberry blackbird blackcat blackhawk blackhawks
blackhole blackie blackjack blackpink blackpool blacksabbath blade blah blazers bleach bleed bless
blessed blessing blink blizzard blood bloody blossom blowjob blowme blue blueberry bluebird
blueeyes bluefish bluejays bluemoon blues bluesky blume blunt blur bmw bobafett bobdylan bobmarley
boca bocajuniors body bollocks bond bondage bong bonjour bonjovi bonnie bonnieclyde bono bonsoir
boobies boobs book books boomer booty bordeaux borg boss bosslady boston bowling bowser boxer
boxing boyfriend brady brandy bratislava brave braveheart bravery braves brazil bread breakingbad
bremen bretagne brewers bright brighton brilliant brisbane bristol britain british britney
britneyspears broken brokenheart broncos bronx bronze brother brothers brownie brownies browns
bruins brussel bts bubba bubblegum bubbles buccaneers bucuresti bud budapest buddha buddy buddyboy
budlight budweiser buffalo buffy bugatti bugs bugsbunny buick builder bulbasaur bulgaria bull
bulldog bulldogs bullet bulletformyvalentine bullets bulls bullshit bumblebee bunnies bunny burger
burgerking burrito business buster butt butter buttercup butterfinger butterflies butterfly
butthead c3po cadillac cake cakes calgary cali california callie callof callofduty camaro
cambridge camel camelot campus camry canada canadian canadiens candy candycane candygirl candyman
canim cannabis canucks capitals cappuccino captain captainamerica captainmorgan caramel cardinal
cardinals cards carlsberg carnage carrot cartman cash cashmoney casino casinoroyale casper cassidy
cassie cassis castle cat catcher catdog catfish cats catwoman cavaliers celica cello celtic
celtics cerise challenger champagne champion champions championship chance chandler chanel change
changeit changeme changethis charger chargers charizard charliebrown charmander chase chat chaton
checkers cheer cheerful cheerleader cheese cheeseburger cheesecake cheesy cheetah chelsea
chemistry chen cherries cherry cherrypie chess chester cheval chevelle chevrolet chevy chewbacca
chewie chicago chicken chico chiefs chien child children china chinese chocolat chocolate chopin
chouchou chrisbrown christ christmas chrysler church cincinnati cinderella cinnamon cinta cisco
citroen citron civic cjkysirj clarinet clash class2000 classroom cleo cleopatra cleveland clippers
cloud clouds cloudy clover clyde coach cobain cobra cocacola cocaine cock cocksucker cocktail
cocoa coconut cocopuff cody coeur coffee coke cola coldplay college colonel colorado colts
columbia columbus comein comeon commando company compaq computer computers conan concert
connecticut converse cookie cookiemonster cookies cool coolcat coolgirl coolguy coolio coolman
coolness coors cop copper cops corinthians corleone corn corolla corona corporal corse corvette
costanza costco cougar count counter counterstrike countess country courage cow cowboy cowboys
cowgirl cows coyotes cr7 crab cracker crackers cranberry crap crazy crazyboy crazygirl create
creation creative cricket crimson cristiano crosby crow crown cry crying crypto crystals cska
cthutq cubs cupcake cupcakes curry customer cute cutie cutiepie cyber cyberpunk cyborg cycling
cyclist cyclops daddy daddysgirl daehan daffy daffyduck dagger daisies daisy dakota dalek dallas
dammit damn damnit dance dancer dancing dandelion danish danmark daredevil dark darkangel
darkknight darklord darkman darkness darkside darkstar darling darth darthvader database datsun
davidson daylight dbrnjhbz dccomics dead deadly deadman deadpool dearest death deathmetal
deathstar debian december default defleppard deftones delaware dell demo demon demons
demonstration denhaag denmark dentist denver depeche depechemode desert desktop destiny detroit
deutschland developer development devil devils dexter dharma diablo diamond diamonds dice dick
dickhead die diesel digimon dion dior disco discord discovery disney disneyland disneyworld dixie
djokovic doctor doctors doctorwho dodge dodgers dogbert dogfood doggie doggy doghouse dogs dollar
dollars dolphin dolphins dominatrix domino dominos donaldduck donkey dontforget dontknow donut
donuts doom doorbell doorman doors dork dortmund dory dota doudou doughnut dove dracula dragon
dragonball dragonfly dragonforce dragons dragonslayer dragonstone drake drdre dream dreamcast
dreamer dreamers dreaming dreams dresden drink drinker drinks driver drivers driving drogba
dropbox drpepper drugs drum drummer drums drunk drupal drwho dublin ducati duchess duck duckie
ducks duke dumbass dumbledore dumbo dummy durant dusty dutch dynamo eagle eagles earth easter
eatme ebay ebony eclipse edinburgh edmonton education eeyore egypt eindhoven eintracht electric
electrician elephant elk elmo elpaso elvis elvispresley elway emerald eminem emperor empire
empress endeavour engine engineer engineering england english enter enterprise entrance ericsson
erotic espana espn espresso eternal eternity ethernet ethiopia etoile evanescence evangelion
evening everquest everton everything evil exam example excalibur exo extreme facebook faith falcon
falcons fall fallout falloutboy family familyguy fanta fantastic fantasy fatass fate father
fathers favre february federer fedora fender fenerbahce ferrari ferret fetish feyenoord fiat fido
fightclub fighter fighters finalfantasy finance findingnemo finland finnish fiorentina fire
fireball firebird firefighter firefly firefox fireman firstlove fish fisherman fishes fishing
flame flamengo flames flash fleur florida flower flowerpower flowers floyd fluffy flute flyers
foobar foobarbaz foofighters fool football footballer footy fordf150 foreigner forest forever
foreverlove foreveryoung forget forgot forgotten forrestgump fortnite forty9ers fortyniners foxes
foxy fraise framboise francais france frankenstein frankfurt frasier freak freaky freddie freedom
french freshman freya friday friend friendly friends friendship fries frodo frog froggy frogs
frontdoor frost frosty fruehling fry fubar fuck fucker fuckers fuckface fucking fuckit fuckme
fuckoff fuckthis fuckyou fun funny funtime furious fury fussball futurama fylhtq galatasaray
galaxy gambit gambler gambling game gameboy gamecube gameofthrones gameover gamer gamers games
gaming gandalf ganja garden gardens garfield garlic garuda gasoline gatekeeper gateway gatorade
gecko geek geheim geheimnis general genesis georgia german germany gerrard getout gfhjkm ghana
ghbdtn ghost ghostrider ghosts giants giga gimli ginger giraffe girlfriend gizmo gladbach
gladiator glasgow glock glory gmail goalie goalkeeper goat goaway goddamn goddess godfather
godisgood godislove godzilla gohan goku gold golden goldeneye goldfinger goldfish goldie goldstar
golf golfball golfer golfing gollum goodboy goodbye goodday goodfellas goodgirl goodlife goodluck
goodmorning goodnight goodtimes goofy google gorgeous goteborg gracie graduate graduation grandma
grandpa granny grape grapes greece greek greenapple greenbay greenday greenlantern greentea gremio
gretzky grey grizzlies grizzly gryffindor gta gucci guest guinness guitar guitarist guitars gump
gun gundam gunit gunner guns gunsnroses gymnast gymnastics gypsy hacked hacker hackers hacking
hackme hades hailey halflife hallo halloween halo ham hamburg hamburger hamster handball handsome
hannahmontana hannover hanoi hansolo happiness happy happybirthday happyday happydays happyface
hardcore hardware harlem harley harleydavidson harleyquinn harmony harrypotter harrystyles haruka
hase hashish hasi hate hater hatred hawaii hawk hawks hbo heart heartbreak heartless hearts heat
heaven heavenly heavymetal hedwig heineken heisenberg hej hell hellboy hellfire hello hellokitty
hellothere helloworld helpdesk helsinki hendrix herbst hermes hermione hero heroes heroin heslo
hewlett highschool hiphop hippo hiroshi history hitachi hobbit hobbits hockey hogwarts holiday
holidays holland hollywood holy homer homerjay homerun homework honda honest honesty honey
honeybear honeybee honeybunny hongkong honolulu honor honour hooch hooker hooters hope hornet
hornets horney horny horse horses hospital hot hotboy hotchick hotdog hotgirl hotmail hotmama
hotrod hotstuff hottie house houston howimetyourmother hrvatska html huang hufflepuff hulk
hulkhogan hummer hund hungary hunters hunting hurricanes husband husky hustler hyundai ibrahimovic
ice iceberg icecream icecube icehockey iceland iceman ichliebedich idaho idiot idontcare idontknow
iforgot iguana ihateu ihateyou ikea illinois ilovedad ilovegod iloveher ilovehim ilovejesus
iloveme ilovemom ilovemyself iloveu iloveyou iloveyouso iluvu imagination imagine imin immortal
impala impossible impreza inception incredible indiana indigo indonesia inferno infiniti infinity
insane inspire instagram integra intel inter internazionale internet intranet inuyasha iowa ipad
iphone ipod ipsum iran iraq ireland iris irish ironmaiden ironman island islanders islands israel
istanbul itachi italia italian italy itsme itsmylife iverson ivy izmir jackass jackbauer
jackdaniels jackie jackpot jacksonville jade jaguar jaguars jakarta jake jamesbond jameson janis
january japan japanese jasper java javascript jayz jazz jedi jediknight jedimaster jeep jelly
jellybean jellybeans jelszo jersey jerusalem jesuschrist jetaime jeter jets jihoon jimihendrix
jimmorrison job jobs joey johnlennon johnniewalker joint joker jokers jonas jonasbrothers joomla
joplin journey joy joydivision joyful jtm judaspriest judo juice july june jungle junior jupiter
justdoit justice justinbieber justintimberlake justme juve juventus kakashi kansas kanye kanyewest
karate katyperry katze kawasaki kbkbz kebab kenji kenny kenobi kentucky kenya kermit ketchup
keyboard keychain keyhole keymaster khaleesi kia kids kill killbill killer killers killme kingdom
kingdomhearts kingfish kingkong kings kirk kiss kissa kissme kissmyass kitten kittens kitty
kittycat kiwi klingon knicks knights knuckles koala kobayashi kobe kobebryant kobenhavn kode
kodeord koeln koira konnichiwa korea korn kotik kramer ktyjxrf kurtcobain kyoto labrador lacoste
lacrosse ladies lady ladybird ladybug ladygaga lake lakers lakes lamb lambo lamborghini lampard
lancelot lancer landrover lannister lapin laptop lasagna lassie lasvegas latchkey latte laugh
laughing lawyer lazio leagueoflegends learning lebanon lebron lebronjames ledzeppelin leeds
leedsutd leela legend legendary legends legolas leia leicester leipzig lekker lemieux lemon
lemonade lemons lennon lenovo leopard lespaul lesson letmein letmeinnow letsgo leverkusen levis
lexi lexus liberty library licky liebe liebling liefje light lighthouse lightning lights
lightsaber lilies lille lilwayne lime limpbizkit lin lincoln lineage linebacker link linkedin
linkinpark linux lion lionelmessi lionking lions literature liu liverpool liwei lizard ljubov
lobster loca lockpick locksmith loco login logon lokomotiv lola lollipop london loneliness lonely
lord lordoftherings lords lorem loremipsum losangeles losenord loser losers lost lottery lotus
louisiana louisville loulou love lovebird lovebug loveless lovely loveme lover loverboy lovergirl
lovers loves loveyou loving loyalty lozinka lubimaya lubimka lubov lucifer lucky luckycharm
luckydog luckyone lucy luffy lukeskywalker lunatic lune lyon lösenord macbook macintosh maddie
madonna madrid maganda magenta maggie magic magical magician magneto magnolia magnum magyar mahal
mahalko maiden maine major makati makemoney malaysia malmo maman manager manchester mancity
mandalorian mandy mango mangos manhattan maniac manila manning manunited manutd mapleleafs
maradona marathon march marge mariah marigold marijuana mariners marines marino marinochka market
marketing marley marlins mars marseille marshmallow martini marvel maryland maserati massachusetts
master masterkey mastiff math mathematics maths matkhau matrix maus mausi maverick mavericks mavs
max maxi maxie maxima maximum maximus maxine maxwell may maya mazda mbappe mccartney mcdonalds
mclaren mechanic medical medicine mega megadeth melbourne melody melon memphis mercedesbenz
mercury mercy merdeka merlin messi metal metalgear metalhead metallica mets mew mewtwo miami miata
michaeljackson michaeljordan michigan mickey mickeymouse microsoft middleearth midnight mikey
milan mileycyrus military milk milkshake millenium million millionaire millions milo milwaukee
mind minecraft ming mini minicooper minneapolis minnesota minnie minsu mission missionimpossible
mississippi missouri misspiggy missy mistress misty mitsubishi mitzi mocha modem molly mommie
mommy mond monday money moneyman monitor monkey monkeyboy monkeyman monkeys monster montana
montreal moon moonbeam moonlight moonraker moonshine moonstone moose mordor moriarty morning
morocco moron morpheus morrissey morrowind mortalkombat moskva mosquito motdepasse mother
motherfucker mothers motley motleycrue motor motorbike motorcycle motorhead motorola mountain
mountaindew mountains mouse mozart mtndew mtv muenchen mufasa muffin muffins muffy muggle
muhammadali mulan mulder muppet muppets murder muscle muscles music musica musical musician
musicman mustang mustard mybaby myboy mychemicalromance myfamily mygirl mykids mylife mylove
mynameis mypass mypassword mypin mysecret myself myspace mysql mysterious mystery mystic nachos
nadal nakamura naked nantes naoki napoli narnia naruto nasa nascar nashville nationals navy
navyseal nbc nebraska nederland needforspeed nelly nemo neo neptune nerd netflix netherlands nets
network networks nevada newcastle newjersey newman neworder neworleans newpassword newyear newyork
newyorkcity newzealand neymar nguyen nice nigeria night nightfall nighthawk nightmare nightmares
nightwing nightwish nihao nike niners ninja ninjas nintendo nirvana nissan nitro nobody nofx
noidea nokia none noodle noodles nopassword norge norway norwegian nothing notorious nottingham
nounours novell november nsync nude nuernberg nuggets null nurse nurses nursing nutella nvidia nyc
oakland oakley oasis obiwan obiwankenobi oblivion ocean oceans october octopus octopussy odin
oesterreich office offspring ohio oilers oklahoma oldpassword olympic olympics olympique omaha
onedirection onelove onepiece onion onlyme onlyyou opal opel open opensesame opera operator oracle
orange oranges oranje orca orchid oregon oreo orgasm orgy orioles orlando osaka osiris oslo otis
ottawa otter outlook ovechkin overwatch owl oxford ozzie ozzy ozzyosbourne pacers packard packers
pacman padlock padme padres pain painful pal palmeiras panasonic pancake pancakes panda pandas
panic pantera panther panthers papaya papillon paradise paramore paramount paris parol parola
parrot pass passcode passe passkey passme passord passphrase passwd password passwort pasta
patches patriots paypal peace peaceandlove peaceful peacemaker peach peaches peacock peanut
peanutbutter peanuts pear pearl pearljam pearls pebbles pele pelicans penguin penguins penis
pennsylvania penny pennywise penthouse pentium pepper peppers pepsi pepsicola perfect perkele perl
perth petal peterpan peugeot pferd pferde pham phantom philadelphia philippines philips phillies
philly phoebe phoenix photoshop phreak physical physics pianist piano picard pickle pickles pig
pigeon piggy piglet pikachu pilipinas pilot pimp pimpdaddy pimpin pimping pincode pineapple pink
pinkfloyd pinkpanther pinky pinoy pinterest pirate pirates piss pissoff pistol pistons pitbull
pitcher piter pittsburgh pizza pizzahut pizzas planet platinum playball playboy player players
playgirl playmate playstation plum plumber pluto pocahontas poet poetry pogi poison poisson
pokemon poker pokerface poland polarbear police policeman polish pomme ponies pontiac pony poodle
pooh poohbear pookie poopie popcorn popeye poppy porn porno pornstar porsche portland porto
portsmouth poseidon postgres potato potatoes power powerful powerpuff powers prada praha prayer
predator predators presley pretty prettyboy prettygirl pride prince princess printer private
privet program programmer programming prophet psg psv psycho pudding pulpfiction puma pumbaa
pumpkin pumpkins punisher punk punkrock punkrocker puppies puppy purple purplerain pussies pussy
pussycat puzzle python quake quarterback quebec queen queenie queens quidditch quiksilver r2d2
rabbit rabbits raccoon racecar racer racing radeon radiohead rage ragnarok rahasia raiders rain
rainbow rainbows raindrop raining rainyday rambo ramen rammstein ramones rams rancid ranger
rangerover rangers rapper raptors rascal raspberry rat raven ravenclaw ravens rayban reader
reading realmadrid rechner red redbird redbull reddevil reddevils reddit redhat redhead redhot
redrose redskins redsox redwine redwings reebok reggae remember rememberme remington renault
resident residentevil respect retriever rex rhino rich richie riddler rifle rihanna ringo
rivendell river riverplate rivers rjirf roadking roadrunner robin robins roblox robot robotics
robots rocco rock rockandroll rocker rockets rockies rocknroll rockon rockstar rocky rockyou rolex
rollingstones rollsroyce romania ronaldinho ronaldo rooney rooster roscoe rosebud rosemary roses
rosie rossi rossiya roswell rotterdam rottweiler roulette router rover roxie roxy royal royals
royalty ruby rudolph rugby rum runescape runner running rush russia rusty ryu saab sabbath sabres
sacramento sad sadie sadness safety saigon sailor sailormoon saint saints sakura salasana sales
salesman salmon salsa salt salut sam sammy sample samson samsung samurai samwise sanandreas
sanantonio sandiego sandy sanfrancisco santa santaclaus santos saopaulo sapphire saranghae sasuke
satan sato saturday saturn sauron sausage sax saxophone sayang scarface scarlet schalke schatje
schatz schatzi scheisse schnucki school schools schumacher schweiz science scooby scoobydoo
scooter scorpio scorpion scorpions scotland scottish scout scruffy scully seahawks seahorse seat
seattle secret secretword secure security sega seinfeld selena selenagomez senators senior seniors
seniseviyorum senna seoul sephiroth september sergeant server service sesame sesamestreet sevilla
sex sexo sexpistols sexual sexy sexybitch sexyboy sexygirl sexylady sexymama sexyman sexything
shadow shadows shaggy shakira shanghai shaq shark sharks sharp sheep sheffield shelby sheldon
shepherd sherlock sherlocked shield shit shithead shitty shooter shotgun shrek shrimp shutup
siemens sifre signin silver silverado silverfox simba simcity simpsons sinatra singapore singer
singing sinister sister sisters sith sixers sixnine sixtynine skateboard skater skating
skeletonkey skippy skittles skoda skunk sky skyblue skyhawk skyler skyline skype skyrim skywalker
slamdunk slash slayer slimshady slipknot slovensko slytherin smartass smile smiles smiley smiling
smirnoff smiths smithwesson smoke smoker smokey smoking snafu snake snakes snapchat snape snickers
sniper snoop snoopdogg snoopy snow snowball snowboard snowboarder snowflake snowman snowwhite
soccer softball software soldier soldiers soleil solidsnake solnce solnyshko solo somebody
something sommar sommer song songs sonic sonne sonnenschein sony sopranos sorcerer soul soulmate
soulmates soundgarden southafrica southampton southpark spaghetti spain spanish sparkle sparkles
sparky sparrow sparta spartacus spartak spartan spartans spatz spawn special speed speedster
speedy spice spicy spider spiderman spiders spike spirit spock spongebob sporting spot spotify
spring springs springsteen sprite spurs spy sqlserver squall squid squidward squirrel squirtle
srbija stallion stan starbucks starcraft stardust starfire starfish starfleet stargate stargazer
stark starlight stars starship startrek starwars steak steelers sterne stewie stlouis stockholm
stocks stoned stoner stones stories storm stormer stormy story stratocaster strawberries
strawberry streetfighter strength striker stripper strong stronger student students stupid
stuttgart styx subaru sucker suckit suckme sucks sugar sugarplum summertime sun sundance sunday
sundevil sunflower sunflowers sunny sunrise suns sunset sunshine suomi super superadmin superb
superboy superfly supergirl superhero superman supermario supersonic superstar superuser
supervisor support supra supreme surabaya surfboard surfer surfing sushi suzuki sverige swan
swatch sweden swedish sweet sweetheart sweetie sweetpea sweets sweety swift swimmer swimming swiss
switzerland sword swords sydney sylvester symphony sysadmin system systemofadown taco tacobell
tacos tagalog tailor tails taiwan takashi tampa tanaka tango tank tarantino tardis targaryen
target tasha tastatur taylorswift taz tea teacher teachers tears teatime techno teddybear tekken
telegram teletubbies temp temporary tennessee tennis tequila terminator terrier test tester
testing tetris texans texas thailand thebeatles thecure thedoors theforce thepassword thesims
thexfiles thisisit thisisme thor threesome thriller thumper thunder thunderbird thunderbolt
thunderstorm thursday tiantian tifa tiger tigers tigerwoods tigger tiggers tiktok timberwolves
timon tinker tinkerbell titanic titans tits titties toad toast toby tokyo tomato tomatoes tomcat
tommyhilfiger tonymontana tool topaz topsecret toronto tortoise toshiba totoro tottenham touchdown
toulouse toyota tractor trader trading tran trance transam trigger trinity triumph trixie trojan
trojans trombone trout troy truck trucker trucks truelove trumpet trustme trustno trustnoone truth
tucson tuesday tulip tulips tumblr tuna tunisia tupac turbo turkey turkiye turquoise turtle
turtles tweety tweetybird twilight twins twitter twix tylerdurden tyson ubuntu ufo ukraina ukraine
ultimate ultra undefined unicorn unicorns unitedstates universal universe university unknown
uranus usa user username usher utah utopia utrecht vacation vader vagina valencia valentine
vampire vampires vancouver vanhalen vanilla vanille vasco vegas vegeta venom venus vermont versace
vespa vettel vfhbyf vfrcbv viagra vicecity victory vietnam viking vikings villa vinter violet
violets violin viper vipers vivaldi vodka voetbal vogel voldemort volkswagen volleyball volvo
voyager vulcan wachtwoord waffle wales walkingdead walmart walterwhite wang wangwei wanker war
warcraft warfare warlock warrior warriors wars wasp wassup watanabe water waterfall waterloo
watermelon wazzup wealthy webmail webmaster website wednesday weed weekend weezy wei weirdo
welcome welcomeback welkom welsh werder werewolf westham whale whatever whatsapp whatsup whiskers
whiskey whisky whitecat whitesnake whitesox whitey whitney whocares wicked wien wife wifi wild
willow winchester windows windowsxp wine wings winner winners winnie winniethepooh winning winston
winter winteriscoming winters wireless wisconsin wisdom witch witches wizard wizards woaini wolf
wolfman wolfpack wolverine wolves wonderful wonderwoman woodstock woody wordpress worker working
world worldofwarcraft wrangler wrestler wrestling writer writing wrx wyoming xbox xfiles xiao xmas
xmen xtreme xyzzy yahoo yamaha yamamoto yamato yang yankee yankees yellow yes yfcntz yfnfif yoda
yogi yorkshire yoshi youtube ytpyf. yuki zagreb zaika zebra zelda zenit zeppelin zeus zhang
zhangwei zhao zhou zidane ziggy zion zombie zombies zoro zorro zuerich zvezda андрей зайка котик
любовь максим марина москва наташа пароль привет россия сергей солнце спартак
"""

COMMON_WORDS = frozenset(_TEXT.split())
