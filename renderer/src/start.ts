// The first code of the page: small, so that the server works on its replies while the rest is loaded and compiled.
import { openingCalls } from './opening/opening-calls.ts';
import { beginOpening } from './opening/opening-replies.ts';

const hasCode = new URLSearchParams(location.search).has('code');
// Most page loads follow an earlier sign-in. A page in the background opens no stream.
if (!hasCode && !document.hidden) beginOpening(openingCalls(location.hash));
void import('./main.ts');
