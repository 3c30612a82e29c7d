// Colors of authorization token states.
import type { TokenState } from '#server/features/authorization-tokens/authorization-token-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export const TOKEN_TONES: Record<TokenState, Tone> = {
  active: 'ok',
  expired: 'idle',
  revoked: 'revoked',
  replaced: 'idle',
};
