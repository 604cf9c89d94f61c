"""The classes (P31) of each kind of items."""

from __future__ import annotations

from namesake.kernels.names.constants import GIVEN_OR_FAMILY_NAME, ORGANISATION, PLACE, WORK

CLASSES = {
    PLACE: """
        2221906 geographic location; 56061 administrative territorial entity; 486972 human settlement; 515 city;
        1549591 big city; 3957 town; 532 village; 5084 hamlet; 15284 municipality; 3257686 locality; 188509 suburb;
        123705 neighborhood; 2983893 quarter; 1093829 city of the United States; 15127012 town of the United States;
        498162 census-designated place; 751708 village in the United States; 62049 county seat;
        17343829 unincorporated community in the United States; 35657 state of the United States;
        47168 county of the United States; 3744870 township; 747074 comune of Italy; 484170 commune of France;
        12813115 urban area in Sweden; 70208 municipality of Switzerland; 7930989 city/town; 1289426 county of China;
        1065118 district of China; 494721 city of Japan; 1115575 civil parish; 42744322 urban municipality of Germany;
        262166 municipality of Germany; 1637706 city with millions of inhabitants; 5119 capital; 6256 country;
        3624078 sovereign state; 7275 state; 3024240 historical country; 417175 kingdom; 7270 republic; 133156 colony;
        5107 continent; 82794 geographic region; 1620908 historical region; 34876 province; 28575 county;
        10864048 first-level administrative country subdivision; 6465 department of France;
        13220204 second-level administrative country subdivision; 2198484 municipal district;
        192611 electoral district; 271669 landform; 23442 island; 1402592 island group; 33837 archipelago;
        112099 island nation; 34763 peninsula; 8502 mountain; 46831 mountain range; 54050 hill; 35666 glacier;
        15324 body of water; 355304 watercourse; 4022 river; 47521 stream; 23397 lake; 165 sea; 39594 bay;
        839954 archaeological site; 41176 building; 811979 architectural structure; 16560 palace; 23413 castle;
        16970 church building; 483110 stadium; 641226 arena; 1076486 sports venue; 1154710 association football venue;
        24354 theater; 12280 bridge; 22698 park; 79007 street; 34442 road; 174782 square; 1248784 airport;
        644371 international airport; 55488 railway station; 928830 metro station; 570116 tourist attraction;
        74047 ghost town; 39614 cemetery
    """,
    ORGANISATION: """
        43229 organization; 4830453 business; 6881511 enterprise; 783794 company; 891723 public company; 431289 brand;
        786820 automobile manufacturer; 17412622 automobile marque; 46970 airline; 22687 bank; 66344 central bank;
        249556 railway company; 210167 video game developer; 1137109 video game publisher;
        1762059 film production company; 18127 record label; 2085381 publisher; 1320047 book publisher;
        45400320 open-access publisher; 163740 nonprofit organization; 484652 international organization;
        245065 intergovernmental organization; 327333 government agency; 7188 government; 640506 cabinet;
        192350 ministry; 7278 political party; 37002670 unicameral legislature; 189445 bicameral legislature;
        190752 supreme court; 176799 military unit; 3918 university; 875538 public university;
        902104 private university; 15936437 research university; 62078547 public research university;
        38723 higher education institution; 189004 college; 9826 high school; 3914 school;
        2385804 educational institution; 31855 research institute; 955824 learned society; 180958 faculty;
        33506 museum; 207694 art museum; 7075 library; 16917 hospital; 215380 musical group; 5741069 rock group;
        641066 girl group; 9212979 musical duo; 2088357 musical ensemble; 476028 association football club;
        6979593 national association football team; 847017 sports club; 12973014 sports team;
        13393265 basketball team; 13027888 baseball team; 17156793 American football team; 4498974 ice hockey team;
        2485448 sports governing body; 11032 newspaper; 1110794 daily newspaper; 1616075 television station;
        2001305 television channel; 14350 radio station; 3146899 diocese of the Catholic Church;
        879146 Christian denomination; 3917681 embassy
    """,
    WORK: """
        17537576 creative work; 47461344 written work; 7725634 literary work; 571 book; 41298 magazine;
        1002697 periodical; 5633421 scientific journal; 49084 short story; 5185279 poem; 25379 play; 1344 opera;
        207628 musical composition; 2188189 musical work; 482994 album; 208569 studio album; 209939 live album;
        222910 compilation album; 169930 extended play; 134556 single; 7366 song; 11424 film; 24869 feature film;
        24862 short film; 229390 3D film; 506240 television film; 29168811 animated feature film;
        17517379 animated short film; 5398426 television series; 21188110 American television sitcom;
        581714 animated series; 63952888 anime television series; 1259759 miniseries;
        3464665 television series season; 15416 television program; 1358344 news program; 21198342 manga series;
        7889 video game; 7058673 video game series; 7397 software; 9135 operating system; 3305213 painting;
        196600 media franchise; 35127 website
    """,
    GIVEN_OR_FAMILY_NAME: """
        82799 name; 202444 given name; 12308941 male given name; 11879590 female given name;
        3409032 unisex given name; 101352 family name; 110874 patronymic; 49614 nickname;
        4167410 Wikimedia disambiguation page; 4167836 Wikimedia category; 13406463 Wikimedia list article;
        11266439 Wikimedia template; 95074 fictional character; 15632617 fictional human; 15773347 film character;
        3658341 literary character; 15773317 television character; 15711870 animated character;
        1114461 comics character; 4271324 mythical character; 22988604 mythological Greek character; 178885 deity;
        20643955 human biblical figure; 636497 stock character; 21070568 human who may be fictional;
        1792372 character; 3241972 character
    """,
}
"""Classes of each kind, with their labels; people are the instances of Q5 only."""


def classes() -> dict[int, int]:
    """The kind of each class, by the number of its QID."""
    return {int(entry.split()[0]): kind for kind, entries in CLASSES.items() for entry in entries.split(";")}
