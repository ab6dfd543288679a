/** A project with texts that are hard to show: 200 letters, right-to-left letters, markup. And one without any data. */

import type { CreatedConnection } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { ManagementApi } from '../start/management-api.ts'
import { makeRefunds } from './refunds.ts'

/** One word, because it cannot be broken at a space. */
const LONG_WORD = 'Wolfeschlegelsteinhausenbergerdorff'.repeat(6).slice(0, 200)
const LONG_NAME = 'Refunds of the online shop in all countries where it delivers, '.repeat(4).slice(0, 200).trim()
const CUSTOMERS = [
  'Maria del Carmen Consuelo Trinidad Concepción '.repeat(5).slice(0, 200).trim(),
  'مريم بنت عبد الله بن محمد العتيبي',
  'שרה כהן',
  '<img src=x onerror=alert(1)>',
  'Ada',
]
const WITHIN_MS = 120_000

/** Creates the project, and waits until its refunds have incidents. @returns its id */
export async function createAwkwardProject(api: ManagementApi): Promise<string> {
  const { project_id } = await api.post<{ project_id: string }>('/v1/projects', { name: LONG_WORD })
  const connection = await api.post<CreatedConnection>(`/v1/projects/${project_id}/connections`, {
    kind: 'processor',
    name: LONG_NAME,
    out_of_band: 'alert',
  })
  await api.post('/v1/alert-channels', {
    project_id,
    name: LONG_WORD,
    events: ['incident.opened'],
    config: { kind: 'webhook', url: `http://127.0.0.1:9/${LONG_WORD}` },
  })
  await api.post('/v1/budgets', {
    project_id,
    name: LONG_NAME,
    currency: 'kwd',
    cap: 9_007_199_254_740,
    interval: 'day',
  })
  await api.post('/v1/operations', {
    connection_id: connection.connection_id,
    kind: 'refund',
    subject: `pi_${LONG_WORD}`,
    amount: 9_007_199_254,
    currency: 'jpy',
    state: 'completed',
    run_id: LONG_WORD,
    reason: LONG_NAME,
  })
  const payments = CUSTOMERS.map((name, index) => ({
    payment: { amount: 1_000_000_000, currency: 'kwd', name, email: `customer-${index}@customer.example` },
    refund: 10 ** (index + 4),
  }))
  await makeRefunds(connection, payments)
  const list = `/v1/incidents?project_id=${project_id}&limit=200`
  const incidents = await until(
    'the incidents of the awkward project',
    async () => {
      const { data } = await api.get<{ data: { incident_id: string }[] }>(list)
      return data.length === CUSTOMERS.length ? data : undefined
    },
    { timeoutMs: WITHIN_MS, everyMs: 1_000 },
  )
  for (const { incident_id } of incidents.slice(0, 2)) {
    await api.post(`/v1/incidents/${incident_id}/assign`, { assignee: LONG_NAME })
    await api.post(`/v1/incidents/${incident_id}/comments`, { text: `${LONG_NAME} ${LONG_WORD}` })
  }
  return project_id
}
