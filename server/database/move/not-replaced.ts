import { OperatorError } from '#server/platform/operator-error.ts';

/** A restore has failed. The database has the content from before, and nothing else has changed. */
export class NotReplacedError extends OperatorError {
  override readonly name = 'NotReplacedError';
}
