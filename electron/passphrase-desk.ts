// Asks for the passphrase of the master key, where there is no keychain.
import { KeyVaultError, type PassphraseDesk } from './key-vault.ts';
import type { PassphraseView } from './shell-bridge.ts';
import type { ShellWindow } from './shell-window.ts';
import { texts } from './texts.ts';

/** The passphrase is all that stands between a stolen disk and the secrets on it. */
const LEAST_CHARACTERS = 12;

export function createPassphraseDesk(window: Pick<ShellWindow, 'ask' | 'show' | 'close'>): PassphraseDesk {
  function problemOf(passphrase: string, again: string): string {
    if ([...passphrase].length < LEAST_CHARACTERS) return texts().passphraseShort;
    return passphrase === again ? '' : texts().passphraseDiffers;
  }

  return {
    async choose() {
      const { passphraseChoose, passphraseChooseWhy, passphrase, passphraseAgain, seal, keepInFile } =
        texts();
      const view: PassphraseView = {
        kind: 'passphrase',
        title: passphraseChoose,
        why: passphraseChooseWhy,
        label: passphrase,
        again: passphraseAgain,
        problem: '',
        submit: seal,
        instead: keepInFile,
        isBusy: false,
      };
      try {
        for (let problem = ''; ;) {
          const answer = await window.ask({ ...view, problem });
          if (!answer) throw new KeyVaultError('no passphrase was chosen');
          if (answer.kind !== 'passphrase') return null;
          problem = problemOf(answer.passphrase, answer.again);
          if (problem === '') return answer.passphrase;
        }
      } finally {
        window.close();
      }
    },
    async ask(tryIt) {
      const { passphraseOpen, passphraseOpenWhy, passphrase, passphraseWrong, unlock } = texts();
      const view: PassphraseView = {
        kind: 'passphrase',
        title: passphraseOpen,
        why: passphraseOpenWhy,
        label: passphrase,
        again: null,
        problem: '',
        submit: unlock,
        instead: null,
        isBusy: false,
      };
      try {
        for (let problem = ''; ; problem = passphraseWrong) {
          const answer = await window.ask({ ...view, problem });
          if (answer?.kind !== 'passphrase') throw new KeyVaultError('no passphrase was given');
          window.show({ ...view, isBusy: true });
          if (await tryIt(answer.passphrase)) return;
        }
      } finally {
        window.close();
      }
    },
  };
}
