import { type ObjectState, ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { detailsOf } from '../../details.ts'
import {
  CurrencyCode,
  Detail,
  helpful,
  Id,
  MinorUnits,
  nameObject,
  type ObjectMeaning,
  reading,
  stateIn,
  UnixTime,
} from '../../object-fields.ts'
import type { ProcessorContext } from './context.ts'
import { placeOf } from './details.ts'

export const Dispute = z.object({
  id: ProviderId,
  object: z.literal('dispute'),
  amount: helpful(MinorUnits),
  currency: helpful(CurrencyCode),
  charge: helpful(Id),
  payment_intent: helpful(Id),
  created: UnixTime,
  status: helpful(z.string()),
  livemode: Detail,
})

/** Normalises a dispute. It is recorded and never judged as a refund, because the bank opened it. */
export const meaningOfDispute: ObjectMeaning<ProcessorContext> = (context, object) =>
  reading('dispute', Dispute, object, dispute => ({
    kind: 'observed',
    sightings: [
      {
        kind: 'record',
        record: 'dispute',
        ...nameObject(context, 'processor', 'dispute', dispute.id, [dispute.payment_intent, dispute.charge]),
        providerRef: dispute.id,
        amount: dispute.amount,
        currency: dispute.currency,
        state: stateIn(STATES, dispute.status),
        stateVersion: null,
        createdAt: dispute.created,
        ...disputeDetails(context, dispute),
      },
    ],
  }))

function disputeDetails(context: ProcessorContext, { livemode, payment_intent, charge }: z.infer<typeof Dispute>) {
  return detailsOf(placeOf(context, livemode, 'payments', payment_intent ?? charge))
}

/** The state of the withdrawal of the money. A lost dispute is a withdrawal that succeeded. */
const STATES: Readonly<Record<string, ObjectState>> = {
  warning_needs_response: 'requires_action',
  needs_response: 'requires_action',
  appeal_needs_response: 'requires_action',
  lost: 'succeeded',
  won: 'failed',
  warning_closed: 'canceled',
  prevented: 'canceled',
}
