"""English."""

from namesake.language.language import Language, words

NICKNAMES = """
    abigail abby gail
    abraham abe bram
    albert al bert bertie
    alexander alex al sandy xander sasha alec
    alexandra alex sandra lexi sasha
    alfred alf fred alfie freddie
    allan alan allen al
    andrew andy drew
    angela angie
    anthony tony ant
    arthur art artie
    barbara barb barbie babs
    benjamin ben benny benji
    bernard bernie
    bradley brad
    caroline carrie carol carolyn
    catherine katherine kathryn cathy kathy kate katie kat kitty cate
    charles charlie chuck chas chaz
    christina christine chris chrissy tina
    christopher chris kit topher
    clifford cliff
    cynthia cindy
    daniel dan danny
    david dave davey
    deborah debbie debra deb
    dennis denis denny
    dominic dom nick
    donald don donnie
    dorothy dot dottie dolly
    douglas doug
    edward ed eddie ted teddy ned
    edwin ed eddie
    eleanor ellie nell nora
    elizabeth liz lizzie beth betty betsy eliza lisa libby
    emily em emmy
    eugene gene
    ferdinand ferdie
    florence flo florrie
    frances fran francie
    francis frank fran frankie
    franklin frank
    frederick fred freddie freddy rick
    gabriel gabe
    gerald gerry jerry
    gerard gerry
    gilbert gil
    gregory greg gregg
    harold harry hal
    henry harry hank hal
    herbert herb bert
    howard howie
    isaac ike
    isabel isabella bella izzy
    jacob jake
    jacqueline jackie
    james jim jimmy jamie jimmie
    janet jan
    jeffrey jeff geoffrey geoff
    jennifer jen jenny jenni
    jeremy jerry jem
    jerome jerry
    jessica jess jessie
    john jack johnny jon johnnie
    jonathan jon jonny johnathan jonathon
    joseph joe joey jo
    josephine jo josie
    joshua josh
    judith judy
    julian jules
    kenneth ken kenny
    kimberly kim
    laurence lawrence larry laurie
    leonard len lenny leo
    leslie les
    lewis lew louis lou louie
    lucy lucille lu
    louise lou
    madeleine maddie
    margaret maggie meg peg peggy marge rita greta
    mark marc
    martin marty
    mary molly polly mae
    matthew matt
    maurice mo
    maximilian max
    melissa mel lissa
    michael mike mick mickey micky mikey
    mitchell mitch
    mohammed mo mohamed muhammad mohammad
    nancy nan
    nathaniel nate nat nathan
    nicholas nick nicky nicolas nico
    nicole nikki nicky
    norman norm
    oliver ollie
    pamela pam
    patricia pat patty tricia trish
    patrick pat paddy
    peter pete
    philip phil phillip
    rachel rach
    randall randy
    randolph randy
    raymond ray
    rebecca becky becca
    reginald reg reggie
    richard rick dick rich richie ricky
    robert bob rob bobby robbie bert
    roderick rod
    rodney rod
    roger rog
    ronald ron ronnie
    rudolph rudy
    russell russ
    samantha sam
    samuel sam sammy
    sandra sandy
    sarah sally sara
    sebastian seb
    sidney sid sydney
    simon si
    solomon sol
    stanley stan
    stanislas stan stanislaw
    stephanie steph
    stephen steve steven stevie
    stuart stewart stu
    susan sue susie suzanne suzie
    terence terry terrance
    theodore ted teddy theo
    theresa teresa tess terry
    thomas tom tommy
    timothy tim timmy
    tobias toby
    valerie val
    vernon vern
    veronica ronnie
    victor vic
    victoria vicky vikki tori
    vincent vince vinny
    virginia ginny
    walter walt wally
    wesley wes
    wilfred wilf
    william will bill billy willie willy liam
    winston win
    zachary zach zack
"""

English = Language(
    name="en",
    labels=("en", "mul", "en-gb", "en-ca"),
    wikipedia="enwiki",
    # words: the list of 127 that the paper uses
    stop_words=words(
        """
        i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
        it its itself they them their theirs themselves what which who whom this that these those am is are was were be
        been being have has had having do does did doing a an the and but if or because as until while of at by for
        with about against between into through during before after above below to from up down in out on off over
        under again further then once here there when where why how all any both each few more most other some such no
        nor not only own same so than too very s t can will just don should now
        """
    ),
    stemmer="porter",
    lemmas="en",
    # sentences
    titles_before_names=words(
        """
        mr mrs ms messrs mme mlle dr drs prof rev hon sen sens rep reps gov govs gen col lt sgt capt cmdr adm maj cpl
        pvt insp supt det pres st mt ft vs v
        """
    ),
    abbreviations=words(
        """
        inc ltd co corp bros jr sr llc etc dept univ assn ave blvd rd est al esq approx dist ala ariz ark calif colo
        conn fla ga ill kan ky md mich minn mo mont neb nev okla ore pa tenn tex va vt wis wyo jan feb aug sept oct nov
        dec mon tues thurs
        """
    ),
    before_numbers=words("no nos vol vols pp p fig figs ch art mar apr jun jul sep tue wed thu thur fri sat sun ca c"),
    starters=words(
        """
        the a an he she it they we i you in on at but and this that these those there his her its their our my as after
        before when if while for with by however according what who how why where some many most also since so then not
        all one meanwhile last both even each now during under from to
        """
    ),
    always_capital=words("i"),
    # names
    honorifics=words(
        """
        mr mrs ms miss mister madam madame mme monsieur herr frau fraulein senor senora senorita signor signora mx dr
        doctor prof professor sir dame lord lady hon honorable honourable rt right maitre esq rev reverend fr father
        sister brother mother pastor bishop archbishop cardinal pope rabbi imam sheikh sheik shaykh ayatollah mullah
        mufti swami guru saint st sri shri smt pandit ustad venerable deacon canon monsignor msgr president
        vice|president prime|minister premier chancellor minister secretary senator sen congressman congresswoman
        congressperson representative rep governor gov lt|gov lieutenant|governor mayor councillor councilman
        councilwoman councilor ambassador delegate speaker chairman chairwoman chairperson first|lady attorney|general
        king queen prince princess emperor empress tsar tsarina czar sultan shah emir baron baroness count countess
        duke duchess earl viscount viscountess marquess marquis marchioness archduke archduchess general gen colonel
        col major maj captain capt lieutenant lt sergeant sgt corporal cpl private pvt admiral adm commander cmdr
        commodore brigadier brig marshal field|marshal officer constable detective inspector sheriff judge justice
        chief|justice coach
        """
    ),
    suffixes=words(
        """
        jr sr junior senior ii iii iv vi vii viii phd ph|d md dds jd mba esq esquire qc kc mp mep mla mlc tds
        cbe obe mbe kbe dbe gbe kcb kcmg gcmg cmg dso frs fba frcp
        """
    ),
    connectors=words("of the and for in to on at"),
    article="the",
    peerages=("baron", "earl", "duke", "count", "viscount", "marque", "prince", "lord", "lady", "king", "queen"),
    nicknames=tuple(tuple(names.split()) for names in NICKNAMES.strip().splitlines()),
    function_words=words(
        """
        a an the of in on at to for from by with without into onto over under about after before between through against
        during and or nor but if so as than then because while although though until since when where why how what who
        whom whose which that this these those there here i you he she it we they me him us them my your his her its our
        their is are was were be been being am has have had do does did doing can could shall should would might must
        not no yes all any some each every both either neither one two three first last next other another such only own
        same more most much many few less least very too also just even still again once up down out off back new old
        said says say told get got go goes went come came make made take took see saw know knew yet however meanwhile
        moreover furthermore nevertheless nonetheless therefore thus hence instead otherwise besides indeed perhaps
        maybe earlier later soon yesterday tomorrow tonight recently previously afterwards eventually finally initially
        originally suddenly elsewhere despite unlike apparently certainly clearly obviously usually often sometimes
        """
    ),
    ordinary_first_names=words(
        """
        will may mark bill art grant rich hope faith grace joy dawn june april august summer autumn chance chase chip
        drew frank gene guy jack lance pat peg ray rob rod rose sandy skip sue van wade christian jordan chad georgia
        dean major earl duke pierce miles dick bob nick josh buck buddy sonny rusty sunny champ cash price page gay
        happy lucky king prince star sky rain river brook cliff glen heath wood forest clay stormy violet ivy iris
        olive daisy lily jasmine ginger pepper amber crystal jade pearl ruby gale misty candy honey angel destiny
        harmony melody charity constance patience prudence honor justice victor noble young wise bright hardy ernest
        blunt long little big baby coach sir paris london austin dallas houston phoenix chelsea israel china india
        kenya america victoria carolina virginia montana dakota sydney florence milan roman german holland ireland
        scotland england general president doctor judge saint pope lord lady queen max tiger magic rocky pop sweet busy
        common
        """
    ),
    not_a_person=words(
        """
        inc incorporated corp corporation company ltd limited llc plc gmbh group holdings partners associates
        enterprises industries brothers bros foundation trust institute institution university college school academy
        stadium arena field park gardens airport station hospital clinic center centre medical memorial museum library
        gallery theater theatre auditorium hall hotel tower towers plaza building bridge dam tunnel highway freeway
        expressway parkway street avenue ave road rd boulevard blvd lane square island islands lake mountain mount
        county township district church cathedral chapel cemetery monument award awards prize medal trophy cup classic
        invitational tournament lecture fellowship scholarship professorship fund motors motor records
        pictures productions studios entertainment orchestra experience quartet trio
        """
    ),
    before_not_a_person=words(
        """
        high middle elementary primary secondary grammar preparatory community public national international regional
        municipal presidential cancer research space family charitable performing arts
        """
    ),
    particles=words(
        """
        al el ul ibn bin bint ben abu de del della delle di da das do dos du der den des van von vom zu zur ter ten te
        le la les lo af av y ap ab
        """
    ),
    born=frozenset({"born", "b.", "was born"}),
    died=frozenset({"died", "d."}),
    numerals=words("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx xxi xxii xxiii"),
    generations=words("ii iii iv"),
    head_ends=words("of the"),
    name_titles=words(
        """
        mr mrs ms miss mister madam madame mme monsieur herr frau senor senora signor dr doctor prof professor sir dame
        lord lady rev reverend fr father sister brother pastor bishop archbishop cardinal pope rabbi imam sheikh
        ayatollah mullah saint st president premier chancellor minister secretary senator sen congressman congresswoman
        representative rep governor gov mayor ambassador speaker chairman chairwoman king queen prince princess emperor
        empress tsar czar sultan shah emir baron baroness count countess duke duchess earl general gen colonel col
        major maj captain capt lieutenant lt sergeant sgt admiral adm commander marshal judge justice coach detective
        inspector sheriff chief director messrs senators presidents kings queens popes emperors justices generals
        """
    ),
    royal_titles=words(
        """
        king queen prince princess emperor empress tsar tsarina czar sultan shah emir pope saint st duke duchess
        archduke archduchess sister brother father mother kings queens popes emperors
        """
    ),
    lower_titles=words(
        """
        president premier chancellor minister senator governor mayor king queen prince princess emperor empress tsar
        czar sultan shah emir pope bishop archbishop cardinal professor sheikh ayatollah mullah rabbi justice director
        coach
        """
    ),
    noble_titles=words(
        """
        landgrave margrave elector duke duchess count countess king queen prince princess emperor empress earl baron
        lord archduke archbishop bishop
        """
    ),
    saints=words("st saint"),
    roles=words(
        """
        president minister premier chancellor senator governor mayor leader chairman chairwoman chairperson ceo boss
        founder owner executive director secretary spokesman spokeswoman candidate nominee rival incumbent opponent
        politician lawmaker congressman congresswoman activist dictator ruler king queen emperor prince princess singer
        rapper actor actress musician guitarist drummer bassist pianist composer conductor artist painter sculptor
        photographer author writer novelist poet playwright journalist columnist editor historian philosopher economist
        scientist physicist chemist biologist mathematician astronomer inventor engineer architect designer filmmaker
        producer comedian presenter host star celebrity model dancer striker midfielder defender goalkeeper winger
        forward captain coach manager quarterback pitcher batsman bowler champion golfer boxer wrestler swimmer
        sprinter driver player teammate legend hero general commander colonel admiral judge justice lawyer attorney
        prosecutor billionaire businessman businesswoman tycoon investor explorer astronaut pope bishop saint prophet
        wife husband son daughter brother sister father mother widow girlfriend boyfriend friend colleague
        """
    ),
    in_places=words(
        """
        in at near into across outside inside throughout within northern southern eastern western central downtown
        """
    ),
    to_places=words("to from"),
    based=words("based"),
    capital_districts=words("dc d"),
    dates=words(
        """
        monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
        september october november december jan feb mar apr jun jul aug sept sep oct nov dec mon tue wed thu fri sat
        sun spring summer autumn winter christmas easter
        """
    ),
    never_names=words(
        """
        american british english french german italian spanish russian chinese japanese european african asian indian
        iraqi iranian israeli canadian australian mexican democrat democrats democratic republican republicans labour
        conservative christian muslim jewish catholic protestant islamic arab internet god lord bible congress senate
        parliament house court supreme state university college church army navy police union party government north
        south east west northern southern eastern western world war act section chapter article figure table page
        volume part class mr mrs ms dr president king queen prince princess pope minister senator governor general
        captain professor doctor sir madam thanks thank yes no ok okay hello hi please well oh hey dear good great new
        old big high first last why how what when where who which image photo file source edit reply email web news
        today tv pm am gmt est usd us uk eu un
        """
    ),
    families=words("family families dynasty clan household brothers sisters siblings"),
    younger=words("jr sr ii iii iv junior senior"),
    firm_words=words(
        """
        co cos company technologies technology systems software airlines airways bank capital securities insurance
        energy oil petroleum pharmaceuticals laboratories labs media news press broadcasting network networks stores
        international worldwide global administration government cabinet presidency campaign doctrine plan ministry era
        regime space telescope prize peace institute act amendment
        """
    ),
    owned=words("owner parent maker brand subsidiary unit operator"),
    shares=words(
        """
        shares stock sales stores store outlets boutiques dealers dealerships shareholders bonds products jeans
        sneakers shoes handbags cars trucks
        """
    ),
    of_words=words("of"),
    and_words=words("and or"),
    by_words=words("by"),
    credits=words(
        """
        reporting reported writing written editing edited compiled photo photos photograph photographs photography
        image images picture pictures video words text story illustration illustrations credit ap afp epa upi reuters
        getty
        """
    ),
    others=words("other"),
    men=words("mr mister sir lord he himself"),
    women=words("mrs ms miss madam lady dame she herself"),
    journalists=words(
        """
        journalist photojournalist reporter correspondent columnist commentator editor photographer cameraman
        """
    ),
    # numbers of four digits
    measures=words(
        """
        m km cm mm metre metres meter meters kilometre kilometres kilometer kilometers centimetres centimeters
        millimetres millimeters inches mi nm g kg mg kilo kilos kilogram kilograms gram grams lb lbs tonne tonnes ton
        tons l ml cl litre litres liter liters gallons barrels ft sq cubic square cc hp bhp horsepower k w kw mw gw kwh
        mwh v volts watts kilowatts megawatts hz khz mhz ghz kb mb gb tb kbps mbps dpi px pixels kcal calories joules
        mph kph kmh rpm knots hectares ha acres celsius fahrenheit percent bc bce gmt utc est edt cst cdt mst mdt pst
        pdt cet cest bst ist jst aest msk hrs h hours oclock usd eur gbp x
        """
    ),
    counted=words(
        """
        people persons men women children boys girls babies adults youths teenagers students pupils teachers doctors
        nurses workers employees jobs miners farmers soldiers troops policemen officers guards sailors marines fighters
        militants rebels insurgents refugees migrants immigrants settlers prisoners detainees inmates hostages patients
        victims civilians casualties dead protesters protestors demonstrators supporters fans spectators visitors
        tourists passengers guests residents inhabitants citizens families households voters delegates volunteers homes
        houses buildings apartments flats rooms beds villages vehicles cars trucks lorries buses planes tanks ships
        boats guns rifles missiles rockets bombs weapons animals cattle cows sheep goats pigs horses birds trees seconds
        minutes days nights weeks months years miles feet yards dollars pounds euros cents pence yen yuan rupees roubles
        rubles francs kronor kroner pesos marks degrees per
        """
    ),
    numbered=words(
        """
        flight flights no nos num number numbers room page pages p pp section sections article chapter verse line route
        highway interstate bus train tram gate suite apartment apt flat unit box channel lot form rfc iso psalm
        resolution regulation directive windows boeing airbus asteroid ngc opus op bwv item ticket seat extension ext
        postcode code id serial usd eur gbp aud cad chf inr jpy cny rmb nzd sek nok dkk rs x
        """
    ),
    before_years=words("in since until till during circa ca year years early late mid"),
    before_events=words("a an his her its their our my your this that these those whose"),
    joined_to_years=words("era present today now born based built made style vintage model like dated founded to"),
    possessive="s",
    cyrillic="a b v g d e zh z i i k l m n o p r s t u f kh ts ch sh shch - y - e yu ya e i yi d j lj nj c dz",
)
