import { messagesOf } from '../../i18n/messages-of.ts';

export const firstRunMessages = messagesOf(
  {
    steps: 'Steps',
    skip: 'Skip this',
    back: 'Back',
    next: 'Next',
    finish: 'Finish',
    names: { product: 'Product', reach: 'Access', plan: 'Plan' },
    titles: {
      product: 'What do you license?',
      reach: 'Who may reach the API?',
      plan: 'What does the first plan offer?',
    },
    fixed: 'This was given when the server was started, and can only be changed there.',
    product: {
      about: 'Licenses and tokens that name no product are for this one. There can be others beside it.',
      label: 'Short name of the product',
      hint: '1 to 64 of a-z, 0-9 and -',
    },
    reach: {
      who: 'The API answers calls from',
      machine: 'this machine alone',
      network: 'the whole network',
      asSetUp: 'as it is set up: {value}',
      tls: 'Calls are',
      tlsOff: 'not encrypted (http)',
      tlsAuto: 'encrypted (https), with a certificate that the service makes and renews itself',
      openWarning:
        'License keys and tokens go over the network in the clear. Choose encryption, unless a proxy in front sees to it.',
      trustNote:
        'Clients have to trust the authority of this service; its file ca.pem is under “Certificates”.',
    },
    plan: {
      about: 'A plan says how long a license lasts and on how many devices. All plans can be changed later.',
      choose: 'Plan',
      make: 'a new plan',
      license: 'Create a test license of this plan, to try the API with',
    },
    testHolder: 'Test license',
    doneTitle: 'The API is ready.',
    tryActivation: 'Run this in a shell: it activates a test device on the license of “{holder}”.',
    tryHealth: 'Run this in a shell: the service says that it is well.',
    line: 'Line for the shell',
    toLicense: 'Look at the license',
    toApi: 'Code samples and API tokens',
    toBackup: 'Make a backup',
  },
  {
    steps: 'Schritte',
    skip: 'Überspringen',
    back: 'Zurück',
    next: 'Weiter',
    finish: 'Fertigstellen',
    names: { product: 'Produkt', reach: 'Zugang', plan: 'Plan' },
    titles: {
      product: 'Was lizenzieren Sie?',
      reach: 'Wer darf die API erreichen?',
      plan: 'Was bietet der erste Plan?',
    },
    fixed: 'Dies wurde beim Start des Servers angegeben und lässt sich nur dort ändern.',
    product: {
      about: 'Lizenzen und Token, die kein Produkt nennen, gelten für dieses. Daneben kann es weitere geben.',
      label: 'Kurzname des Produkts',
      hint: '1 bis 64 Zeichen aus a-z, 0-9 und -',
    },
    reach: {
      who: 'Die API beantwortet Aufrufe',
      machine: 'nur von diesem Rechner',
      network: 'aus dem ganzen Netzwerk',
      asSetUp: 'wie eingerichtet: {value}',
      tls: 'Aufrufe sind',
      tlsOff: 'unverschlüsselt (http)',
      tlsAuto: 'verschlüsselt (https), mit einem Zertifikat, das der Dienst selbst erzeugt und erneuert',
      openWarning:
        'Lizenzschlüssel und Token gehen offen über das Netzwerk. Wählen Sie die Verschlüsselung, sofern nicht ein Proxy davor dafür sorgt.',
      trustNote:
        'Clients müssen der Zertifizierungsstelle dieses Dienstes vertrauen; deren Datei ca.pem liegt unter „Zertifikate“.',
    },
    plan: {
      about:
        'Ein Plan sagt, wie lange eine Lizenz gilt und auf wie vielen Geräten. Alle Pläne lassen sich später ändern.',
      choose: 'Plan',
      make: 'ein neuer Plan',
      license: 'Eine Testlizenz mit diesem Plan anlegen, um die API auszuprobieren',
    },
    testHolder: 'Testlizenz',
    doneTitle: 'Die API ist bereit.',
    tryActivation:
      'Führen Sie dies in einer Shell aus: Es aktiviert ein Testgerät auf der Lizenz von „{holder}“.',
    tryHealth: 'Führen Sie dies in einer Shell aus: Der Dienst meldet, dass es ihm gut geht.',
    line: 'Zeile für die Shell',
    toLicense: 'Die Lizenz ansehen',
    toApi: 'Codebeispiele und API-Token',
    toBackup: 'Eine Sicherung anlegen',
  },
);
