import { SAMPLE_ALERTS } from '@backstop/channels'
import type { Alert } from '@backstop/contracts'

/** An alert with content that could break the layout: long words, long names, and text that looks like markup. */
export function awkwardAlert(): Alert {
  const alert = SAMPLE_ALERTS['incident.opened']()
  if (alert.event !== 'incident.opened' || alert.data.action === null) throw new Error('The sample is of another event')
  const { incident, action, names } = alert.data
  const subject = `sub_${'0123456789abcdef'.repeat(8)}`
  const customer = { id: null, name: '<b>Not bold</b> & “quoted”; ägypten 退款 🧾', email: null }
  const why = { rule: 'Nothing explains it', candidates: [], read_back: null }
  return {
    ...alert,
    data: {
      incident,
      action: {
        ...action,
        kind: 'cancellation',
        subject,
        amount: null,
        currency: null,
        provider_ref: null,
        customer,
        why,
      },
      ...(names === undefined
        ? {}
        : { names: { ...names, connection: 'Shop Österreich & Schweiz (alte Verträge) '.repeat(4) } }),
    },
  }
}
