import { createSharedProduct } from '../setup/product.ts'

/** The product of minute-product.system-test.ts, with the delay of second looks that users have. */
export const minuteProduct = createSharedProduct('minute')
