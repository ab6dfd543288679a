import type { ProviderKind } from '@backstop/contracts'
import { processor } from './processor/index.ts'
import type { Provider } from './provider.ts'
import { reseller } from './reseller/index.ts'
import { subscription } from './subscription/index.ts'

/** Every provider. A new one needs a folder and a line here. */
export const PROVIDERS = { processor, reseller, subscription } as const satisfies Record<ProviderKind, Provider>
