import { z } from 'zod'
import { Currency } from '../actions/operation.ts'
import { ActionKind } from '../providers.ts'

const KNOWN_CURRENCIES: ReadonlySet<string> = new Set(
  Intl.supportedValuesOf('currency').map(currency => currency.toLowerCase()),
)

const isFreeOfRepeats = (items: readonly string[]) => new Set(items).size === items.length

/** Limits the alerts that a channel gets. A field that is null limits nothing. */
export const ChannelFilter = z.strictObject({
  connection_ids: z
    .array(z.string())
    .min(1)
    .max(100)
    .refine(isFreeOfRepeats, 'Name each connection once')
    .nullable()
    .default(null)
    .describe('Only alerts about these connections, and alerts that concern no connection'),
  kinds: z
    .array(ActionKind)
    .min(1)
    .refine(isFreeOfRepeats, 'Name each kind once')
    .nullable()
    .default(null)
    .describe('Of the alerts about a refund or cancellation, only these kinds'),
  minimum_amounts: z
    .record(Currency, z.int().min(1).max(Number.MAX_SAFE_INTEGER))
    .refine(amounts => Object.keys(amounts).length > 0, 'Name at least one currency')
    .refine(
      amounts => Object.keys(amounts).every(currency => KNOWN_CURRENCIES.has(currency)),
      'Give the currency codes of ISO 4217 in lower case',
    )
    .nullable()
    .default(null)
    .describe(
      'Of the alerts about a refund, only those of at least this amount, in minor units by currency: {"eur": 5000}. A currency that is not named has no minimum',
    ),
})
export type ChannelFilter = z.infer<typeof ChannelFilter>
