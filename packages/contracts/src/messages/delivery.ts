import { z } from 'zod'
import { Alert } from './alert.ts'

/** The request for one attempt to deliver one alert to one channel. */
export const DeliveryRequest = z.object({
  /** The same id for every attempt. Receivers see it as webhook-id. */
  delivery_id: z.string(),
  channel_id: z.string(),
  project_id: z.string(),
  /** The number of the attempt, from 1. A message for an attempt that was already made is skipped. */
  attempt: z.int().min(1),
  /** A test is attempted once and does not change the health of its channel. */
  test: z.boolean(),
  alert: Alert,
  /** The names of up to three other channels that get the alert. Absent in requests to programs, in repeats of a stored delivery, and without any. */
  also_sent_to: z.array(z.string()).optional(),
})
export type DeliveryRequest = z.infer<typeof DeliveryRequest>
