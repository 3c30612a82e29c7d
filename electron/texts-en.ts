// The shell's texts in English.

export const en = {
  openFile: 'Open File…',
  file: 'File',
  edit: 'Edit',
  view: 'View',
  window: 'Window',
  server: 'Server',
  help: 'Help',
  open: 'Open License Desk',
  apiAddress: (address: string) => `API: ${address}`,
  copyApiAddress: 'Copy API Address',
  apiReference: 'API Reference',
  restartServer: 'Restart Server',
  notifications: 'Notifications',
  showDataDirectory: 'Show Data Directory',
  showLogs: 'Show Logs',
  writeKeyFile: 'Export Master Key File…',
  checkForUpdates: 'Check for Updates…',
  thirdPartyLicenses: 'Third-Party Licenses',
  quit: 'Quit License Desk',
  running: 'Server is running',
  failing: 'Server needs attention',
  down: 'Server is not running',
  failedDeliveries: (count: number) =>
    count === 1 ? '1 webhook delivery failed' : `${count} webhook deliveries failed`,
  expiringSoon: (count: number) =>
    count === 1 ? '1 license expires within 7 days' : `${count} licenses expire within 7 days`,
  leave: 'Leave this page?',
  leaveDetail: 'What was not saved, such as a secret or a change of the settings, is lost.',
  leaveNow: 'Leave',
  stay: 'Stay',
  stillRunning: 'License Desk is still running',
  stillRunningInTray: 'The server keeps running. Use the tray icon to open the window or to quit.',
  stillRunningMinimized:
    'The server keeps running. This desktop shows no tray icons, so the window was minimized.',
  kinds: { request: 'Activation request', license: 'License file', any: 'License Desk files' },
  cannotOpen: (name: string) => `Cannot open ${name}`,
  notAFile: 'It is not a file.',
  tooLarge: 'The file is larger than 256 KiB.',
  cannotSave: (name: string) => `Cannot save ${name}`,
  interrupted: 'The download was interrupted. Try again.',
  cannotStart: 'License Desk cannot start',
  tryAgain: 'Try Again',
  cancel: 'Cancel',
  ok: 'OK',
  keyFileTitle: 'Export the master key?',
  keyFileBody: (path: string) =>
    `A server without the app reads the master key from ${path}. Only your user account can read the file. Anyone who has this file and the database can read every secret in it. The app seals the key again the next time it opens this data directory.`,
  keyFileWrite: 'Export and Quit',
  keyFromEnvironment: 'The master key comes from LICENSE_DESK_MASTER_KEY and cannot be exported.',
  keyWasExposed: 'The master key was not protected',
  keyWasExposedDetail:
    'No keyring was running when the key was sealed, so it was sealed with a password that is the same on every computer. It is now sealed by your keyring. If anyone else could read the data directory or a copy of it, treat its secrets as exposed.',
  updatesOff: 'No update address is set. Enter one in Settings, This app.',
  updatesUnpackaged: 'Only an installed app can be updated.',
  upToDate: 'License Desk is up to date',
  updateFailed: 'Cannot check for updates',
  updateNotInstalled: (version: string) => `Cannot install version ${version}`,
  updateFound: (version: string) => `Version ${version} is available`,
  updateByHand:
    'This build cannot verify updates, so it does not install them. Download the new version from its publisher.',
  updateAsk: 'Download it now? It is installed the next time you quit License Desk.',
  download: 'Download',
  later: 'Later',
  updateReady: (version: string) => `Version ${version} is ready to install`,
  updateReadyAsk: 'The server stops during the installation and starts again afterwards.',
  installNow: 'Install and Restart',
  // The window that replaces the page.
  refused: {
    address: 'The server cannot listen on its address',
    data_directory: 'Cannot use the data directory',
    database: 'Cannot use the database',
    newer_database: 'The database belongs to a newer version',
    settings: 'Invalid setting',
    key: 'Cannot open the master key',
    crashes: 'The server keeps failing',
    service: 'The service is not running',
  },
  advice: {
    address: 'Check the host and the port, then try again.',
    data_directory:
      'If another License Desk uses the directory, quit it. If your user account has no write access, change the permissions or start the app with a different --data-dir.',
    database:
      'Follow the message above. To restore a backup, run: license-desk restore FILE --data-dir DIRECTORY',
    newer_database:
      'Install the version that wrote the database, or restore a backup from before the update. Nothing was changed.',
    settings: 'Correct the setting in config.json, in the environment or on the command line.',
    key: 'Sign in as the user who sealed the key, unlock the keychain, and try again. Or copy your saved master.key file to the data directory. The app then seals it again.',
    crashes:
      'The server failed five times within a minute. Its last messages are below. The full log is in the data directory.',
    service:
      'Start or install the service, then try again. The command license-desk service status --user shows its state. A service of another account cannot be used from the app: open its back office with license-desk open.',
  },
  noService: (dataDir: string) => `No server that you can use is running on ${dataDir}.`,
  restartService:
    'The server runs as a service. Restart it with the service manager of this computer (systemctl, launchctl or Task Scheduler).',
  useService: 'Connect to That Server',
  runInApp: 'Run the Server in the App',
  homeTitle: 'Where should the server run?',
  homeApp: 'In This App',
  homeAppWhy: 'The server runs while you are signed in and License Desk is open or in the tray.',
  homeService: 'As a Service',
  homeServiceWhy:
    'The server starts with the computer or when you sign in, and keeps running when License Desk quits. The app connects to it.',
  homeNeedsPackage: (dataDir: string) =>
    `A service needs the server package. Install it, then run: license-desk service install --user --data-dir "${dataDir}"`,
  portTaken: (port: number, holder: string) => `Port ${port} is in use by ${holder}.`,
  portTakenUnknown: (port: number) => `Port ${port} is in use by another program.`,
  portAdvice: {
    port: 'Quit that program and try again, or choose another port. Clients must then use the new API address.',
    'admin-port': 'Quit that program and try again, or choose another port for the back office.',
  },
  portFrom: (source: string) =>
    `${source} sets this port. A port that you choose here applies only until you quit License Desk.`,
  port: 'Port',
  portInvalid: 'Enter a number from 1 to 65535.',
  usePort: 'Use This Port',
  useFreePort: 'Use a Free Port',
  log: 'Log',
  passphraseChoose: 'Protect the master key',
  passphraseChooseWhy:
    'The master key decrypts every secret of the server. This computer has no keychain to store it, so protect it with a passphrase. License Desk asks for the passphrase at every start. Without it, the secrets cannot be recovered.',
  passphraseReplaceWhy:
    'The master key was not protected: no keyring was running when it was sealed, so the password is the same on every computer. Protect it with a passphrase now. If anyone else could read the data directory or a copy of it, treat its secrets as exposed.',
  passphraseOpen: 'Unlock the master key',
  passphraseOpenWhy: 'The master key of this data directory is protected by a passphrase.',
  passphrase: 'Passphrase',
  passphraseAgain: 'Repeat passphrase',
  passphraseShort: 'Use at least 12 characters.',
  passphraseDiffers: 'The passphrases do not match.',
  passphraseWrong: 'Wrong passphrase.',
  protect: 'Protect',
  unlock: 'Unlock',
  keepInFile: 'Keep the key in a file that only this user account can read',
};

export type Texts = typeof en;
