import { z } from 'zod'
import { Alert } from './alert.ts'

/** Asks for one attempt to deliver one alert to one channel. */
export const DeliveryRequest = z.object({
  /** The same for every attempt: receivers see it as webhook-id. */
  delivery_id: z.string(),
  channel_id: z.string(),
  project_id: z.string(),
  /** From 1. A message with a number that was already attempted is skipped. */
  attempt: z.int().min(1),
  /** A test is attempted once, never retried, and leaves the channel's health alone. */
  test: z.boolean(),
  alert: Alert,
})
export type DeliveryRequest = z.infer<typeof DeliveryRequest>
