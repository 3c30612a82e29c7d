// Said when the server does not come up: why, and what can be done.
import { dialog } from 'electron';

/** @returns whether to try again */
export async function askToTryAgain(reason: string): Promise<boolean> {
  const { response } = await dialog.showMessageBox({
    type: 'error',
    title: 'License Desk',
    message: 'The license server does not stay up',
    detail: `It failed five times within a minute. The last thing it said:\n\n${reason}`,
    buttons: ['Try again', 'Quit'],
    defaultId: 0,
    cancelId: 1,
    noLink: true,
  });
  return response === 0;
}
