import type { ProviderKind } from '@backstop/contracts'
import { processor } from './processor/index.ts'
import type { Provider } from './provider.ts'
import { reseller } from './reseller/index.ts'
import { subscription } from './subscription/index.ts'

/** All providers. A new provider needs a folder and a line in this list. */
export const PROVIDERS = { processor, reseller, subscription } as const satisfies Record<ProviderKind, Provider>
