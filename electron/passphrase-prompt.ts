// Asks for the passphrase of the master key where there is no keychain.
import { KeyVaultError, type PassphrasePrompt } from './key-vault.ts';
import type { PassphraseView } from './shell-bridge.ts';
import type { ShellWindow } from './shell-window.ts';
import { texts } from './texts.ts';

/** The passphrase alone protects the secrets on a stolen disk. */
const MIN_CHARACTERS = 12;

export function createPassphrasePrompt(
  window: Pick<ShellWindow, 'ask' | 'show' | 'close'>,
): PassphrasePrompt {
  function problemOf(passphrase: string, again: string): string {
    if ([...passphrase].length < MIN_CHARACTERS) return texts().passphraseShort;
    return passphrase === again ? '' : texts().passphraseDiffers;
  }

  return {
    async choose({ isReplacement }) {
      const t = texts();
      const view: PassphraseView = {
        kind: 'passphrase',
        title: t.passphraseChoose,
        why: isReplacement ? t.passphraseReplaceWhy : t.passphraseChooseWhy,
        label: t.passphrase,
        again: t.passphraseAgain,
        problem: '',
        submit: t.protect,
        instead: t.keepInFile,
        isBusy: false,
      };
      try {
        for (let problem = ''; ;) {
          const answer = await window.ask({ ...view, problem });
          if (!answer) throw new KeyVaultError('no passphrase was entered');
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
          if (answer?.kind !== 'passphrase') throw new KeyVaultError('no passphrase was entered');
          window.show({ ...view, isBusy: true });
          if (await tryIt(answer.passphrase)) return;
        }
      } finally {
        window.close();
      }
    },
  };
}
