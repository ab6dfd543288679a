import type { IPriceResponse, IProductResponse } from '@paddle/paddle-node-sdk'
import { makeId, money, type ObjectContext, type ResellerCurrency, timeAt } from '../object-context.ts'

/** A product with its price, as contained in subscriptions and transactions. */
export interface CatalogEntry {
  readonly product: IProductResponse
  readonly price: IPriceResponse
}

/** A product with one price, monthly if it recurs. */
export function makeCatalogEntry(
  context: ObjectContext,
  wanted: { amount: number; currency: ResellerCurrency; recurring: boolean },
): CatalogEntry {
  const madeAt = timeAt(context.nowMs)
  const product = {
    id: makeId('pro', context),
    name: wanted.recurring ? 'Team plan' : 'Template pack',
    type: 'standard',
    description: null,
    tax_category: 'standard',
    image_url: null,
    custom_data: null,
    status: 'active',
    created_at: madeAt,
    updated_at: madeAt,
    import_meta: null,
  } satisfies IProductResponse
  const price = {
    id: makeId('pri', context),
    product_id: product.id,
    description: wanted.recurring ? 'Monthly' : 'Once',
    type: 'standard',
    name: null,
    billing_cycle: wanted.recurring ? { interval: 'month', frequency: 1 } : null,
    trial_period: null,
    tax_mode: 'internal',
    unit_price: { amount: money(wanted.amount), currency_code: wanted.currency },
    unit_price_overrides: [],
    quantity: { minimum: 1, maximum: 100 },
    status: 'active',
    created_at: madeAt,
    updated_at: madeAt,
    custom_data: null,
    import_meta: null,
  } satisfies IPriceResponse
  return { product, price }
}
