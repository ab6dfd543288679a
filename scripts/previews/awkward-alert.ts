import { SAMPLE_ALERTS } from '@backstop/channels'
import type { Alert } from '@backstop/contracts'

/** An alert with content that could break the layout: long words, long names, and text that looks like markup. */
export function awkwardAlert(): Alert {
  const alert = SAMPLE_ALERTS['incident.opened']()
  if (alert.event !== 'incident.opened' || alert.data.action === null) throw new Error('The sample is of another event')
  const { incident, action } = alert.data
  const subject = `sub_${'0123456789abcdef'.repeat(8)}`
  const summary = `A cancellation of ${subject} was made. <b>Not bold</b> & “quoted”; ägypten 退款 🧾`
  return {
    ...alert,
    data: {
      incident: { ...incident, summary },
      action: { ...action, kind: 'cancellation', subject, amount: null, currency: null, provider_ref: null },
    },
  }
}
