// Holders by region: people and places with their ASCII spelling (for email addresses), and patterns for the names of
// organizations.

export interface Region {
  /** Share of all holders, relative to the others. */
  weight: number;
  /** Family name first, as in Chinese or Hungarian. */
  familyFirst?: true;
  /** Separator between the names of a person. Default: a space. */
  joint?: string;
  /** `native/ascii`, separated by spaces; `_` is a space inside a name. */
  given: string;
  family: string;
  cities: string;
  /** `{city}`, `{family}` and `{n}` (a small number) are filled in. */
  bodies: string[];
}

export const REGIONS: Region[] = [
  {
    weight: 16,
    given:
      'Emma/emma Oliver/oliver Siân/sian Zoë/zoe Ruairí/ruairi Margaret/margaret Dwayne/dwayne Renée/renee',
    family:
      'Whitfield/whitfield O’Connor/oconnor Nguyen-Smith/nguyen-smith MacLeòid/macleoid Brontë/bronte Okafor/okafor Lee/lee',
    cities:
      'Leeds/leeds Belfast/belfast Halifax/halifax Perth/perth Denver/denver Saint_Paul/saint-paul Christchurch/christchurch',
    bodies: [
      '{city} Police – Digital Forensics Unit',
      'University of {city}',
      '{family} & Partners LLP',
      '{city} Crime Laboratory',
      '{family} Cyber Ltd',
      'Royal {city} Hospital, Clinical Toxicology Lab {n}',
      'District {n} Attorney’s Office, {city}',
    ],
  },
  {
    weight: 14,
    given:
      'Jürgen/juergen Bärbel/baerbel Anja/anja Günther/guenther Käthe/kaethe Lukas/lukas Søren/soeren Åsa/asa Björn/bjoern',
    family:
      'Müller/mueller Groß/gross Öztürk/oeztuerk Weiß/weiss Schäfer/schaefer Ångström/angstroem Kjærgård/kjaergaard Löfgren/loefgren',
    cities:
      'München/muenchen Köln/koeln Zürich/zuerich Graz/graz Århus/aarhus Göteborg/goeteborg Tromsø/tromsoe Lübeck/luebeck',
    bodies: [
      'Landeskriminalamt {city}, Dezernat {n}',
      'Technische Universität {city}',
      '{family} & Söhne GmbH',
      'Sachverständigenbüro {family}',
      'Polizeipräsidium {city} – IT-Beweissicherung',
      'Kripos, avdeling {city}',
      '{family} Konsult AB',
    ],
  },
  {
    weight: 12,
    given:
      'François/francois Zoé/zoe María/maria Íñigo/inigo João/joao Chloé/chloe Nuño/nuno Giosuè/giosue Loïc/loic',
    family:
      'Lefèvre/lefevre Muñoz/munoz Conceição/conceicao D’Angelò/dangelo Brûlé/brule Peña/pena Guimarães/guimaraes Nicolò/nicolo',
    cities:
      'Nîmes/nimes Málaga/malaga São_Paulo/sao-paulo Forlì/forli Orléans/orleans A_Coruña/a-coruna Montréal/montreal Bogotá/bogota',
    bodies: [
      'Gendarmerie nationale – section de recherches de {city}',
      'Universidad de {city}',
      '{family} et Associés',
      'Perícia Criminal, {city}',
      'Laboratorio de Informática Forense {family}, S. L.',
      'Procura della Repubblica di {city}',
      'Polícia Judiciária – {city}, secção {n}',
    ],
  },
  {
    weight: 12,
    given:
      'Jana/jana Tomáš/tomas Řehoř/rehor Zdeňka/zdenka Květoslav/kvetoslav Ľubomír/lubomir Šárka/sarka Michał/michal Ágnes/agnes',
    family:
      'Dvořák/dvorak Příhoda/prihoda Němec/nemec Šťastný/stastny Žižka/zizka Hôrka/horka Wiśniewski/wisniewski Jażdżewski/jazdzewski',
    cities:
      'Brno/brno Plzeň/plzen Ústí_nad_Labem/usti-nad-labem České_Budějovice/ceske-budejovice Košice/kosice Łódź/lodz Wrocław/wroclaw',
    bodies: [
      'Krajské ředitelství policie, {city}',
      'Kriminalistický ústav, pracoviště {city}',
      '{family} a syn, s. r. o.',
      'Univerzita {city} – Fakulta informatiky',
      'Znalecká kancelář {family}',
      'Komenda Wojewódzka Policji, {city}',
      'Městský soud {city}, oddělení {n}',
    ],
  },
  {
    weight: 4,
    familyFirst: true,
    given: 'Győző/gyozo Zsófia/zsofia Ödön/odon Enikő/eniko',
    family: 'Szőke/szoke Kőműves/komuves Fűtő/futo Gyöngyösi/gyongyosi',
    cities: 'Győr/gyor Székesfehérvár/szekesfehervar Hódmezővásárhely/hodmezovasarhely Pécs/pecs',
    bodies: [
      '{city} Megyei Rendőr-főkapitányság',
      '{family} és Társa Kft.',
      'Szegedi Igazságügyi Szakértői Intézet, {n}. labor',
    ],
  },
  {
    weight: 6,
    given: 'Ελένη/eleni Γιώργος/giorgos Αθηνά/athina Χρήστος/christos Ευάγγελος/evangelos',
    family: 'Παπαδόπουλος/papadopoulos Χατζή/chatzi Οικονόμου/oikonomou Βλάχος/vlachos',
    cities: 'Θεσσαλονίκη/thessaloniki Πάτρα/patra Ηράκλειο/irakleio Ιωάννινα/ioannina',
    bodies: [
      'Διεύθυνση Εγκληματολογικών Ερευνών – {city}',
      'Πανεπιστήμιο {city}',
      '{family} & Σία Ο.Ε.',
      'Εργαστήριο Ψηφιακής Έρευνας {n}',
    ],
  },
  {
    weight: 10,
    given: 'Ольга/olga Дмитро/dmytro Алёна/alyona Зоя/zoya Светлана/svetlana Богдан/bohdan Ђорђе/djordje',
    family:
      'Кузнецов/kuznetsov Шевченко/shevchenko Щербак/shcherbak Подъячев/podyachev Петровић/petrovic Ґалаґан/galagan',
    cities: 'Київ/kyiv Харків/kharkiv Пловдив/plovdiv Београд/beograd Алматы/almaty Львів/lviv',
    bodies: [
      'Національна поліція, м. {city}',
      'Технически университет – {city}',
      'ТОВ «{family} і партнери»',
      'Институт судебных экспертиз, {city}, отдел № {n}',
      'Виша школа {city}',
    ],
  },
  {
    weight: 7,
    given: 'فاطمة/fatima محمد/mohammed ليلى/layla يوسف/yousef آرش/arash زینب/zeynab',
    family: 'الخطيب/alkhatib النجّار/alnajjar العتيبي/alotaibi حسینی/hosseini رضوی/razavi',
    cities: 'عمّان/amman الرياض/riyadh دبي/dubai القاهرة/cairo تبریز/tabriz',
    bodies: [
      'مختبر الأدلة الجنائية الرقمية – {city}',
      'جامعة {city}',
      'شركة {family} وأولاده',
      'شرطة {city}، القسم {n}',
      'دانشگاه {city}',
    ],
  },
  {
    weight: 4,
    given: 'נועה/noa יוסף/yosef שירה/shira אבנר/avner',
    family: 'כהן/cohen לוי/levi בן־דוד/ben-david מזרחי/mizrahi',
    cities: 'חיפה/haifa ירושלים/jerusalem באר־שבע/beer-sheva נתניה/netanya',
    bodies: [
      'משטרת ישראל – מעבדת {city}',
      'אוניברסיטת {city}',
      '{family} ושות׳ בע״מ',
      'המכון לחקירות דיגיטליות, יחידה {n}',
    ],
  },
  {
    weight: 7,
    given: 'अनन्या/ananya राजेश/rajesh प्रिया/priya श्रीकान्त/shrikant তানিয়া/tania ப்ரியா/priya',
    family:
      'शर्मा/sharma त्रिपाठी/tripathi श्रीवास्तव/shrivastava চট্টোপাধ্যায়/chattopadhyay சுப்பிரமணியம்/subramaniam',
    cities: 'पुणे/pune लखनऊ/lucknow हैदराबाद/hyderabad কলকাতা/kolkata சென்னை/chennai',
    bodies: [
      '{city} पुलिस – साइबर अपराध शाखा',
      'केन्द्रीय न्यायालयिक विज्ञान प्रयोगशाला, {city}',
      '{family} एंड संस',
      'विश्वविद्यालय {city}, विभाग {n}',
    ],
  },
  {
    weight: 9,
    familyFirst: true,
    joint: '',
    given: '伟/wei 秀英/xiuying 欣怡/xinyi 志豪/zhihao 雪/xue 嘉豪/jiahao',
    family: '王/wang 李/li 欧阳/ouyang 陳/chan 諸葛/zhuge 张/zhang',
    cities: '上海/shanghai 成都/chengdu 臺北/taipei 香港/hongkong 深圳/shenzhen',
    bodies: [
      '{city}市公安局电子物证鉴定中心',
      '{city}大学',
      '{family}氏科技有限公司',
      '{city}司法鉴定所第{n}研究室',
      '{city}刑事警察大隊',
    ],
  },
  {
    weight: 7,
    familyFirst: true,
    given: 'さくら/sakura 健太/kenta 結衣/yui 龍之介/ryunosuke ジェームズ/james',
    family: '佐藤/sato 髙橋/takahashi 五十嵐/igarashi 渡邊/watanabe',
    cities: '大阪/osaka 札幌/sapporo 京都/kyoto 福岡/fukuoka',
    bodies: [
      '{city}府警察本部サイバー犯罪対策課',
      '{city}大学 情報科学研究科',
      '株式会社{family}製作所',
      '科学捜査研究所 第{n}係',
      '{family}法律事務所',
    ],
  },
  {
    weight: 6,
    familyFirst: true,
    joint: '',
    given: '지우/jiwoo 민준/minjun 서연/seoyeon 하늘/haneul',
    family: '김/kim 이/lee 황보/hwangbo 최/choi',
    cities: '서울/seoul 부산/busan 대전/daejeon 광주/gwangju',
    bodies: [
      '{city}지방경찰청 디지털포렌식계',
      '{city}대학교 정보보호대학원',
      '주식회사 {family}앤컴퍼니',
      '국립과학수사연구원 {city} 제{n}과',
    ],
  },
  {
    weight: 4,
    given: 'สมชาย/somchai กนกวรรณ/kanokwan ณัฐพงศ์/natthaphong พิมพ์ชนก/phimchanok',
    family: 'ศรีสุข/srisuk วงศ์สวัสดิ์/wongsawat จันทร์เพ็ญ/chanphen',
    cities: 'กรุงเทพฯ/bangkok เชียงใหม่/chiangmai ขอนแก่น/khonkaen',
    bodies: ['กองพิสูจน์หลักฐาน {city}', 'มหาวิทยาลัย{city}', 'บริษัท {family} จำกัด', 'ศูนย์นิติวิทยาศาสตร์ที่ {n} {city}'],
  },
  {
    weight: 3,
    given: 'Nguyễn_Ánh/nguyen.anh Đặng_Thu/dang.thu Şule/sule İbrahim/ibrahim Gülşen/gulsen',
    family: 'Trường/truong Phượng/phuong Yıldız/yildiz Çağlayan/caglayan Ağaoğlu/agaoglu',
    cities: 'Đà_Nẵng/danang Huế/hue İzmir/izmir Eskişehir/eskisehir',
    bodies: [
      'Phòng Kỹ thuật hình sự, {city}',
      'Đại học {city}',
      '{family} Bilişim A.Ş.',
      '{city} Emniyet Müdürlüğü, {n}. şube',
    ],
  },
];

/** Names as long as the longest real ones. They must not be truncated or rejected. */
export const LONG_BODIES = [
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft, Zweigniederlassung {city}, Abteilung {n} für elektronische Beweismittel und Datenrettung',
  'Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch Joint Agency Task Force on Digital Evidence, Mobile Devices and Cloud Acquisition, Regional Office {city}, Team {n}',
  'Вищий державний навчальний заклад «Національний університет внутрішніх справ», кафедра комп’ютерно-технічних експертиз та інформаційної безпеки, м. {city}, лабораторія № {n}',
  '国立研究開発法人 情報通信・電磁的記録解析・デジタルフォレンジック総合研究機構 {city}地方統括本部 第{n}研究部門 証拠保全技術開発グループ 共同利用設備運営委員会事務局',
  'المركز الوطني المشترك للأدلة الرقمية وتحليل الأجهزة المحمولة واسترجاع البيانات والتحقيق في الجرائم الإلكترونية العابرة للحدود، الفرع الإقليمي في {city}، الوحدة {n}',
];
