import { chargebeeSdk } from './chargebee.ts'
import { paddleSdk } from './paddle.ts'
import type { Sdk } from './sdk.ts'
import { stripeSdk } from './stripe.ts'

/** The libraries that the reporter can watch. */
export const SDKS: readonly Sdk[] = [stripeSdk, paddleSdk, chargebeeSdk]
