import { isAboutIncident } from '../incident-order/rules/ordering-key.ts'
import type { DeliveryJob } from './delivery-job.ts'

/**
 * The deliveries about incidents whose attempt has ended and whose result is not recorded yet, with the callbacks that
 * wait for the record. Only a later alert about the same incident waits for another delivery.
 */
export class UnrecordedOpenings {
  readonly #waiting = new Map<string, (() => void)[]>()

  track({ request }: DeliveryJob): void {
    if (isAboutIncident(request.alert)) this.#waiting.set(request.delivery_id, [])
  }

  untilRecorded(deliveryId: string): Promise<void> {
    const waiting = this.#waiting.get(deliveryId)
    return waiting === undefined ? Promise.resolve() : new Promise(resolve => void waiting.push(resolve))
  }

  forget(deliveryId: string): void {
    const waiting = this.#waiting.get(deliveryId)
    this.#waiting.delete(deliveryId)
    for (const resolve of waiting ?? []) resolve()
  }
}
