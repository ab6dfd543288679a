import { newId } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { deliveryDocument } from './incidents.contract.ts'
import { createTestKey, createTestProject } from './test-project.ts'

/** More than two pages. */
const COUNT = 450

const LISTS = ['actions', 'incidents', 'deliveries', 'operations', 'audit']

export function describeWholeLists(testApi: () => TestApi): void {
  const api = () => testApi().api

  const storeDeliveries = async () => {
    const { projectId } = await createTestProject(api())
    const began = testApi().now()
    for (let index = 0; index < COUNT; index++) {
      const delivery = deliveryDocument(projectId, newId('alert'), new Date(began + index))
      await testApi().others.deliveries.put({ ...delivery, reason: index === 0 ? '=cmd("a,b")' : `Row ${index}` })
    }
    return projectId
  }

  describe('a whole list', () => {
    test('is streamed as NDJSON and CSV, with the same items as its pages and with formulas as text', async () => {
      const projectId = await storeDeliveries()
      const paged: { delivery_id: string; reason: string }[] = []
      for (let cursor = ''; ; ) {
        const { body } = await api().get(`/v1/deliveries?project_id=${projectId}&limit=200${cursor}`)
        paged.push(...body.data)
        if (body.next_cursor === null) break
        cursor = `&cursor=${body.next_cursor}`
      }
      expect(paged).toHaveLength(COUNT)

      const ndjson = await api().get(`/v1/deliveries?project_id=${projectId}&format=ndjson`)
      expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson')
      const lines: string[] = ndjson.body.trimEnd().split('\n')
      expect(lines.map(line => JSON.parse(line))).toEqual(paged)

      const csv = await api().get(`/v1/deliveries?project_id=${projectId}&format=csv`)
      expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect(csv.headers.get('content-disposition')).toBe('attachment; filename="deliveries.csv"')
      const [header, ...rows] = csv.body.trimEnd().split('\r\n')
      expect(header).toMatch(/^delivery_id,project_id,channel_id,/)
      expect(rows.map((row: string) => row.split(',')[0])).toEqual(paged.map(({ delivery_id }) => delivery_id))
      expect(rows.at(-1)).toContain(`"'=cmd(""a,b"")"`)
    })

    test.each(LISTS)('of %s is chosen by format or by Accept', async list => {
      const csv = await api().get(`/v1/${list}?format=csv`)
      expect(csv).toMatchObject({ status: 200 })
      expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      for (const [accept, type] of [
        ['text/csv', 'text/csv; charset=utf-8'],
        ['application/x-ndjson', 'application/x-ndjson'],
        ['application/json', 'application/json; charset=utf-8'],
        ['*/*', 'application/json; charset=utf-8'],
        ['text/html', 'application/json; charset=utf-8'],
      ] as const) {
        const answer = await api().call('GET', `/v1/${list}`, { headers: { accept } })
        expect({ accept, type: answer.headers.get('content-type') }).toEqual({ accept, type })
      }
    })

    test('has only the project of the key, and refuses a wrong filter before it begins', async () => {
      const [own, other] = [await createTestProject(api()), await createTestProject(api())]
      const reader = api().withKey(await createTestKey(api(), ['read'], own.projectId))
      const foreign = await reader.get(`/v1/deliveries?project_id=${other.projectId}&format=csv`)
      expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } })
      expect((await reader.get('/v1/deliveries?format=xml')).status).toBe(400)
      expect((await reader.get('/v1/projects?format=csv')).status).toBe(400)
    })
  })
}
