"""First names and surnames that people make passwords of.

In lower case, without digits or signs.
"""

_TEXT = """\
aarav aaron abdul abdullah abigail adam adams addison aditya adnan adrian adriana agnieszka ahmad
ahmed aiden aisha ajay akash albert alberto alejandra alejandro aleksandr aleksandra aleksey
alessandra alessandro alessia alexander alexandra alexandre alexei alexey alexis ali alina
allahuakbar allen alyona alyssa amanda amber amelia amina amit amitabh amorcito amy anand
anastasia anatoly anderson andrea andreas andrei andres andrew andrews andrey andrzej aneta angela
angelika angelo anil anita anja anjali anke ankit anne annette annie anthony antje antoine anton
antonella antonia antonio april argentina arif arina arjun armstrong arnaud arnold artem arthur
artur arun ashish ashley ashok asif astrid aubrey aurelie aurelien austin autumn avery axel aziz
babar bailey baker baptiste barbara barnes bartek bartosz bastian bauer beata beatriz becker bell
benjamin bennett benoit bernard bernd berry bertrand bettina betty bilal billy birgit bismillah
bjoern black bobby bolivia bonita boricua boris boyd bradley brandon brasil brian brianna brigitte
brittany brittney brooklyn brooks brown bruno bryant burns butler caio caleb cameron camila
camille campbell carl carla carlos carmen carol carolina caroline carpenter carroll carsten carter
catherine cathy cecile celine chad chantal charles charlie charlotte chavez cheryl chiara chile
chiquita chloe christa christelle christian christina christine christoph christophe christopher
claire clark claudia claudio clave clement cole coleman collins colombia contrasena contraseña
cook cooper corazon corinne cornelia costarica courtney cox craig crawford cristian cristina cruz
crystal cuba cunningham curtis cynthia cyril damien daniel daniela daniele danielle daniels danny
daria dariusz dasha david davide davis dawid debbie deborah debra deepak deepika delphine denis
dennis derek detlef diana diane diaz didier diego dieter dima dinesh dirk divya dixon dmitri
dmitriy dmitry domenico dominic dominicana dominique donald donna doris dorota dorothy douglas
duncan dunn dupa dustin dylan eberhard ecuador eddie eduarda eduardo edward edwards edwin
ekaterina elena elijah elisa elisabeth elizabeth elke ella elliott ellis emanuele emilie emily
emma emmanuel emmanuelle enrico enrique eric erika ernesto ernst esteban estelle estrella ethan
etienne eva evans evelyn evgenia evgeny ewa fabian fabiana fabien fabio fabrice faisal farhan
fatima federica federico felipe felix ferguson fernanda fernando fields filippo fischer fisher
flavia flavio florence flores florian ford foster fox frances francesca francesco francis
francisco francois francoise frank franklin franziska freddy frederic freeman friedrich fritz gabi
gabriel gabriela gabriele gabrielle gaelle galina ganesh garcia gardner gary gatinha gatinho
gaurav gayatri geeta genevieve georg george gerard gerardo gerd gerhard gianluca gianni gibson
giorgia giorgio giovanni gisela giulia giulio giuseppe gloria gomez gonzales gonzalez gopal gordon
gostosa grace graham grant gray green greene gregory greta gretchen griffin grigory grzegorz
guadalupe guatemala gudrun guenter guenther guilherme guillaume guillermo gustavo gutierrez haiti
hall hamilton hamza hannah hannelore hans hansi harald hari harish harold harper harris harrison
hart hartmann hartmut haslo hassan hayes heather hector heidi heike heiko heinrich heinz heitor
helen helga helmut henderson henrik henry herbert hermann hermosa hernandez hicks hill hoffmann
hola holger holly holmes honduras horst howard hudson hughes hugo hunt hunter hussein ibrahim
ignacio igor ilaria ilya imran india indian indira ines inge ingo ingrid inna inshallah irina
isaac isabel isabella isabelle isadora ismail ivan jacek jack jackson jacob jacques jai jaimatadi
jaime jakub jamaica jamal james jamila jan jana janet janice jaroslaw jasmine jason javier jean
jeanne jeffrey jenkins jennifer jeremy jerome jerry jesse jessica jesus jimmy joachim joan joana
joanna joao joaquin jochen joel johann johanna johannes john johnny johnson jonathan jones jordan
jorge jose josefina joseph joshua joyce juan juana juancarlos judith judy juergen julia julian
juliana julie julien juliette julio justin jutta kai kamal kamil kamila kareem karen karim karin
karine karl karolina karsten karthik kashif kasia katarzyna kate katharina katherine kathleen
kathrin kathryn kathy katie katja katrin katya kavita kayla keith kelley kelly kennedy kenneth
kerstin kevin khadija khalid kimberly king kiran kirill kirsten klaus klein knight koch kocham
kochamcie kochanie komputer konrad konstantin krause krishna kristin kristina krueger krzysztof
ksenia kumar kurt kurwa kyle laetitia lakshmi lane lange larisa larry lars laura lauren laurence
laurent lawrence lawson layla leah leandro legia lehmann leila lena leon leonardo leonid leticia
lewis liam lily linda lisa lisboa logan loic long lopez lorena lorenzo lothar louis louise luana
luca lucas lucia luciana lucie ludmila ludovic luigi luis luisa luiz lukas lukasz luke lutz
lyudmila maciej madison magda magdalena mahesh mahmoud maik malgorzata manfred manish manoj manon
manuel manuela marc marcel marcela marcello marcelo marcin marcio marco marcos marcus marek
margaret margarita margaux margherita margit maria mariam mariana mariano marie marina marine
mario marion mariposa marisol mariusz markus marlene marshall marta martha martin martina martinez
mary maryam masha mashallah mason massimo mateus mateusz matheus mathias mathieu matteo matthew
matthews matthias matthieu mauricio maurizio maxim maxime maximilian mcdonald meena megan meghan
meike melanie melissa mercedes mexico meyer mia miamor michael michaela michal michel michele
michelle miguel miguelangel mike mikhail mildred miller mills mireille mirko misha misia misiek
mitchell mivida mohamed mohammad mohammed mohan monica monika monique moore morales morgan morris
muhammad mukesh murilo murphy murray mustafa myers myszka nadeem nadezhda nadine nadja nancy
nandini narayan nastya natalia natalie natasha nathalia nathalie nathan nathaniel naveed naveen
neha nelson neumann nicaragua nicholas nichols nicola nicolas nicole nikhil nikita niklas nikolai
nikolay nina nisha noah noor norbert nour odile oksana olaf oleg olga oliver olivia olivier olson
omar omnamahshivaya omsairam ortiz osama oscar otavio owen owens pablo paige pakistan palmer
pamela panama pankaj paola paolo paraguay parker pascal pascale pasquale patrice patricia patricio
patrick patryk patterson paul paula paulo pavel pawel payne pedro perez perkins perry peru peter
peters peterson petra philip philipp philippe phillip phillips pierce pierre pietro pilar piotr
polina polska pooja porter portugal powell pradeep prakash pramod prasad praveen preeti price
princesa principe priscila priya priyanka przemek puertorico quentin rachel radha rafael rafaela
rafal raffaele raghu rahul rainer raissa raj raja rajan rajesh rajiv raju rakesh ralf ralph ram
ramesh ramirez ramon ramos randy rani raphael raquel rashid raul ravi raymond rebecca reinhard
reinhold rekha remi renata renate renato renaud reyes reynolds ricardo rice richard richardson
richter ricky riley rivera robert roberta roberto roberts robertson robinson rodrigo rodriguez
roger rogerio rogers rohan rohit roland rolf romain roman ronald rosa rosario rose ross roy ruben
rudi rudolf ruediger ruiz ruslan russell ruth ryan sabine sabrina sachin saibaba said sairam salim
salman salvador salvatore samantha samara samir samuel sanchez sandeep sanders sandra sandrine
sangeeta sanjay santiago santosh sara sarah saroj sascha sasha satish savannah schaefer schmidt
schneider schroeder schulz schwarz scott sean sebastian sebastien secreto senha serena sergei
sergey sergio severine shahid shanti sharma sharon shaun shaw shawn shilpa shirley shiva shoaib
shreya shyam siegfried sierra sigrid silke silvia simmons simon simona simone simpson sims sita
slava slawek smith sneha snyder sofia solange solene sonia sonja sophia sophie spencer srinivas
stacey stacy stanislav stanislaw stefan stefania stefanie stefano steffen steffi stephane
stephanie stephen stephens steven stevens stewart stone subhanallah sudha sullivan summer sunil
sunita suresh susan susana susanne sven svenja svetlana swati sylvain sylvia sylvie sylwia szymon
tanja tanvi tanya tariq tatiana tatiane tatyana taylor teamo teamomucho teddy tequiero
tequieromucho teresa terry thais theresa thiago thibault thierry thomas thompson thorsten tiago
tiffany tim timo timothy timur tobias tomas tomasz tomek tommaso tommy torres torsten tracey tracy
travis tucker turner tyler udo ulrich ulrike uma umar umberto ursula uruguay usha usman ute uwe
vadim valentin valentina valeria valerie valerio valery vandana vanessa varun vasily venezuela
venkat vera verena veronica veronika vicente vickie vicky victor victoria vidya vijay vikas vikram
viktor viktoria vinay vincent vincenzo vinicius vinod virginia virginie vishal vitaly vitor
vitoria vittoria vittorio vivek vlad vladimir vladislav volker vova wagner walker wallace walter
waltraud waqas ward warren waseem washington watkins watson wayne weaver webb weber wells wendy
werner west white wilhelm william williams willie willis wilson wojciech wojtek wolfgang wood
woods wright xavier ximena yana yannick yasmin yolanda young youssef yulia yuri yusuf yves yvonne
zachary zainab zbigniew zeeshan zhenya zimmermann zoe zoey zuzanna
"""

COMMON_NAMES = frozenset(_TEXT.split())
