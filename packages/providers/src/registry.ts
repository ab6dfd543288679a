import type { ProviderKind } from '@backstop/contracts'
import { biller } from './biller/index.ts'
import { processor } from './processor/index.ts'
import type { Provider } from './provider.ts'
import { reseller } from './reseller/index.ts'

/** All providers. A new provider needs a folder and a line in this list. */
export const PROVIDERS = { processor, reseller, subscription: biller } as const satisfies Record<ProviderKind, Provider>
