import { createSharedProduct } from '../setup/product.ts'

/** The delay of second looks of `quickProduct`. */
export const RECHECK_DELAY_MS = 1_500

/** The product of quick-product.system-test.ts. */
export const quickProduct = createSharedProduct('quick', {
  recheckDelayMs: RECHECK_DELAY_MS,
  serviceEnv: { 'admin-api': { ARCHIVE_AFTER_DAYS: '400' } },
})

/** The product of minute-product.system-test.ts, with the delay of one minute that users have. */
export const minuteProduct = createSharedProduct('minute')
