import { z } from 'zod'

/** Where a delivery stands. `dead`: it ended without success and lies, with the reason, on deliveries.dead. */
export const DeliveryState = z.enum(['pending', 'delivered', 'retrying', 'dead'])
