import { implement, type Route } from '#server/platform/route.ts';
import { signingAdminContract, type signingContract } from './signing-contract.ts';
import type { SigningService } from './signing-service.ts';

export function signingRoutes(rows: typeof signingContract, signing: SigningService): Route[] {
  return implement(rows, { publicKey: () => signing.publicKeys() });
}

export function signingAdminRoutes(signing: SigningService): Route[] {
  return implement(signingAdminContract, {
    listSigningKeys: () => signing.list(),
    rotateSigningKey: (_request, call) => signing.rotate(call),
    distrustSigningKey: (request, call) => signing.distrust(request, call),
    listFilesToReissue: (request) => signing.filesToReissue(request),
  });
}
