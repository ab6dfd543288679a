/** A project with more rows than a page of a list. */

import type { CreatedConnection } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { ManagementApi } from '../start/management-api.ts'
import { makeRefunds } from './refunds.ts'

const COUNT = 300
const WITHIN_MS = 300_000
const NAMES = ['Ada Byron', 'Bruno Lindqvist', 'Chiara Rossi', 'Dilan Yıldız', 'Emeka Okafor']

/** Creates the project with hundreds of unexplained refunds and operations, and waits for their incidents. @returns its id */
export async function createManyProject(api: ManagementApi): Promise<string> {
  const { project_id } = await api.post<{ project_id: string }>('/v1/projects', { name: 'Many' })
  const connection = await api.post<CreatedConnection>(`/v1/projects/${project_id}/connections`, {
    kind: 'processor',
    name: 'Cards',
    out_of_band: 'alert',
  })
  await api.post('/v1/alert-channels', {
    project_id,
    name: 'On-call',
    events: ['incident.opened'],
    config: { kind: 'webhook', url: 'http://127.0.0.1:9/on-call' },
  })
  const each = Array.from({ length: COUNT }, (_, index) => index)
  const payments = each.map(index => ({
    payment: {
      amount: 900_000,
      currency: 'eur',
      name: NAMES[index % NAMES.length] ?? '',
      email: `customer-${index}@customer.example`,
    },
    refund: 1_000 + index * 37,
  }))
  await makeRefunds(connection, payments)
  for (const index of each) {
    await api.post('/v1/operations', {
      connection_id: connection.connection_id,
      kind: 'refund',
      subject: `pi_many_${index}`,
      amount: 1_000 + index,
      currency: 'eur',
      state: 'completed',
    })
  }
  await until(
    'the incidents of the project with many',
    async () => {
      let count = 0
      let cursor: string | null = ''
      do {
        const path: string = `/v1/incidents?project_id=${project_id}&limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`
        const page: { data: unknown[]; next_cursor: string | null } = await api.get(path)
        count += page.data.length
        cursor = page.next_cursor
      } while (cursor !== null)
      return count >= COUNT ? count : undefined
    },
    { timeoutMs: WITHIN_MS, everyMs: 2_000 },
  )
  return project_id
}
