import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditRows, createTestProject } from './test-project.ts'

export function describeReportBatches(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('reports in a batch', () => {
    const openBatch = async () => {
      const own = await createTestProject(api())
      const item = (key: string, more: object = {}) => ({
        type: 'report',
        connection_id: own.processorId,
        kind: 'refund',
        subject: `pi_${key}`,
        idempotency_key: key,
        ...more,
      })
      const send = (items: object[], headers: Record<string, string> = {}) =>
        api().post('/v1/operations/batch', { items }, headers)
      return { ...own, item, send }
    }
    const statusesOf = ({ body }: { body: { results: { status: number }[] } }) =>
      body.results.map(({ status }) => status)

    test('have a result each, and a refused one refuses no other', async () => {
      const { item, processorId, send } = await openBatch()
      const report = { connection_id: processorId, kind: 'refund', subject: 'pi_1' }
      const known = (await api().post('/v1/operations', report)).body.operation_id
      const answer = await send([
        item('b1', { state: 'completed' }),
        item('b2', { connection_id: 'con_none' }),
        { type: 'transition', operation_id: known, to: 'executing' },
        { type: 'transition', operation_id: 'op_none', to: 'executing' },
        item('b1', { subject: 'pi_other' }),
      ])
      expect(answer.status).toBe(200)
      expect(answer.body.results).toMatchObject([
        { status: 201, operation: { state: 'completed', subject: 'pi_b1' }, problem: null },
        { status: 404, operation: null, problem: { code: 'not_found' } },
        { status: 200, operation: { operation_id: known, state: 'executing' } },
        { status: 404, problem: { code: 'not_found' } },
        { status: 409, operation: null, problem: { code: 'idempotency_conflict' } },
      ])
      const rows = await auditRows(testApi(), { request_id: answer.headers.get('x-request-id') as string })
      expect(rows.map(({ action }) => action).toSorted()).toEqual(['operation.create', 'operation.transition'])
    })

    test('about one operation are carried out in their order', async () => {
      const { item, send } = await openBatch()
      const states = ['requested', 'executing', 'completed']
      const answer = await send(states.map(state => item('b3', { state })))
      expect(statusesOf(answer)).toEqual([201, 200, 200])
      expect(answer.body.results.map((result: { operation: { state: string } }) => result.operation.state)).toEqual(
        states,
      )
      await expect
        .poll(() =>
          testApi()
            .published(answer.body.results[0].operation.operation_id)
            .map(({ state }) => state),
        )
        .toEqual(states)
    })

    test('are the same operations if the batch is sent again', async () => {
      const { item, send } = await openBatch()
      const items = Array.from({ length: 1_000 }, (_, index) => item(`many ${index}`))
      const first = await send(items)
      expect(new Set(statusesOf(first))).toEqual(new Set([201]))
      const again = await send(items)
      expect(new Set(statusesOf(again))).toEqual(new Set([200]))
      expect(again.body.results).toEqual(first.body.results.map((result: object) => ({ ...result, status: 200 })))
      const rows = await auditRows(testApi(), { request_id: again.headers.get('x-request-id') as string })
      expect(rows).toEqual([])
    })

    test('are refused as a whole, with the name of the field, if one of them is invalid', async () => {
      const { item, projectId, send } = await openBatch()
      const invalid: [object[], RegExp][] = [
        [[], /items/],
        [Array.from({ length: 1_001 }, (_, index) => item(`${index}`)), /items/],
        [[item('b4'), item('b5', { amount: -1 })], /items\.1\.amount/],
        [[item('b4'), item('b5', { idempotency_key: undefined })], /items\.1\.idempotency_key/],
        [[item('b4'), item('b5', { type: 'transition' })], /items\.1/],
        [[item('b4'), {}], /items\.1/],
      ]
      for (const [items, field] of invalid) {
        const answer = await send(items)
        expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
        expect(JSON.stringify(answer.body.errors)).toMatch(field)
      }
      expect((await api().get(`/v1/operations?project_id=${projectId}`)).body.data).toEqual([])
    })

    test('get the first answer if they are repeated with the same Idempotency-Key', async () => {
      const { item, send } = await openBatch()
      const first = await send([item('b6'), item('b7')], { 'idempotency-key': 'batch-1' })
      const again = await send([item('b6'), item('b7')], { 'idempotency-key': 'batch-1' })
      expect(statusesOf(again)).toEqual([201, 201])
      expect(again.body).toEqual(first.body)
    })
  })
}
