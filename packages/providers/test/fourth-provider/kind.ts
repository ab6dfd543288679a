import type { ProviderKind } from '@backstop/contracts'

/** A real provider has its line in ProviderKind of packages/contracts; a test cannot add one. */
export const KIND = 'wallet' as ProviderKind
