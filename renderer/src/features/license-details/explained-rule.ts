// The rules of an authorization check and of a checkout.
import type { authorizationAdminContract } from '#server/features/authorization-tokens/authorization-token-contract.ts';
import type { leaseExplainContract } from '#server/features/leases/lease-explain-contract.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';

type Explained =
  | ReplyOf<typeof authorizationAdminContract.explainAuthorization>['rules'][number]
  | ReplyOf<typeof leaseExplainContract.explainCheckout>['rules'][number];

export type RuleName = Explained['rule'];
export type RemedyName = NonNullable<Explained['remedy']>;
