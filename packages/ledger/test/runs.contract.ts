/** Failed runs over any store: run by ledger.test.ts (memory) and ledger.integration-test.ts (MongoDB). */
import { newId } from '@backstop/contracts'
import type { PendingOutbox } from '@backstop/kit/outbox'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runDocumentId } from '../src/runs.ts'
import { alertsOf, NOW, type OpenTestBooks, openProject, type TestBooks, type TestProject } from './books.ts'

export function describeRuns(name: string, open: OpenTestBooks): void {
  describe(`failed runs in ${name}`, () => {
    let books: TestBooks
    let project: TestProject
    let runId: string
    const announced: PendingOutbox[] = []
    const record = async (at = NOW) =>
      (await books.ledger.record(project.report({ run_id: runId }), project.connection, at)).operation
    const fail = (more = {}, now = NOW + 10) => books.runs.fail({ projectId: project.id, runId }, more, now)

    beforeAll(async () => {
      books = await open({ announce: outbox => void announced.push(outbox) })
    })
    beforeEach(() => {
      project = openProject()
      runId = newId('message')
      announced.length = 0
    })

    test('are stored, and alert with the operations that name them', async () => {
      const operations = [await record(), await record(NOW + 1)]
      announced.length = 0
      const { run, outcome } = await fail({ reason: 'Timed out', failed_at: '2026-11-21T10:59:59+01:00' })
      expect(outcome).toBe('created')
      expect(run).toEqual({
        run_id: runId,
        project_id: project.id,
        reason: 'Timed out',
        failed_at: '2026-11-21T09:59:59.000Z',
        reported_at: new Date(NOW + 10).toISOString(),
      })
      expect(await books.runs.get({ projectId: project.id, runId })).toEqual(run)
      const newestFirst = operations.toReversed().map(({ refs: _refs, ...shown }) => shown)
      expect(alertsOf(announced)).toEqual([
        expect.objectContaining({ event: 'run.failed', data: { run, operations: newestFirst, operations_total: 2 } }),
      ])
    })

    test('alert once, also for repeated and concurrent reports', async () => {
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => fail()))
      expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
      const again = await fail({ reason: 'Another' }, NOW + 99)
      expect(again).toMatchObject({ outcome: 'unchanged', run: { reason: null } })
      expect(alertsOf(announced)).toHaveLength(1)
    })

    test('alert with at most fifty operations and their total number', async () => {
      for (let i = 0; i < 53; i++) await record(NOW + i)
      announced.length = 0
      await fail()
      const [alert] = alertsOf(announced)
      expect(alert?.data).toMatchObject({ operations_total: 53 })
      expect(alert?.data.operations).toHaveLength(50)
    })

    test('keep their alert in the outbox until it is published', async () => {
      await fail()
      const id = runDocumentId({ projectId: project.id, runId })
      const mine = async (before: number) =>
        (await books.outboxSource.pending(before, 10_000)).filter(({ documentId }) => documentId === id)
      expect(await mine(NOW + 10)).toEqual([])
      const [pending] = await mine(NOW + 11)
      expect(pending?.entries.map(({ topic }) => topic)).toEqual(['alerts'])
      await books.outboxSource.published([{ documentId: id, entryIds: pending!.entries.map(entry => entry.id) }])
      expect(await mine(NOW + 11)).toEqual([])
    })

    test('may have a name of any characters', async () => {
      for (const odd of ['a/b', 'a\nb', '%2F', 'ü', '\ud800', '$ne']) {
        const { outcome } = await books.runs.fail({ projectId: project.id, runId: odd }, {}, NOW)
        expect({ odd, outcome }).toEqual({ odd, outcome: 'created' })
      }
      expect(await books.runs.list({ projectId: project.id, limit: 10 })).toHaveLength(6)
    })

    test('in the future are refused, with a tolerance for clocks that are ahead', async () => {
      const inMinutes = (count: number) => new Date(NOW + count * 60_000).toISOString()
      await expect(fail({ failed_at: inMinutes(6) }, NOW)).rejects.toMatchObject({
        code: 'invalid_request',
        refusal: { kind: 'time', field: 'failed_at', reason: 'lies_in_the_future' },
      })
      expect(await fail({ failed_at: inMinutes(4) }, NOW)).toMatchObject({ outcome: 'created' })
    })

    test('with the same run_id in two projects are two runs', async () => {
      await record()
      const other = openProject()
      await books.runs.fail({ projectId: other.id, runId }, {}, NOW)
      expect(await books.runs.get({ projectId: project.id, runId })).toBeUndefined()
      expect((await books.runs.projectsOf(runId)).toSorted()).toEqual([project.id, other.id].toSorted())
      expect(alertsOf(announced).at(-1)?.data).toMatchObject({ operations: [], operations_total: 0 })
    })

    test('are listed newest first, page by page', async () => {
      for (let i = 0; i < 5; i++) {
        await books.runs.fail({ projectId: project.id, runId: `run-${i}` }, {}, NOW + Math.floor(i / 2))
      }
      const all = await books.runs.list({ projectId: project.id, limit: 10 })
      expect(all).toHaveLength(5)
      expect(all[0]?.run_id).toBe('run-4')
      const paged = []
      for (let page = await books.runs.list({ projectId: project.id, limit: 2 }); page.length > 0; ) {
        paged.push(...page)
        const last = page.at(-1)!
        const id = runDocumentId({ projectId: last.project_id, runId: last.run_id })
        page = await books.runs.list({ projectId: project.id, limit: 2, after: { at: new Date(last.reported_at), id } })
      }
      expect(paged).toEqual(all)
    })

    test('have their operations listed by run', async () => {
      const wanted = await record()
      await books.ledger.record(project.report({ run_id: 'other' }), project.connection, NOW)
      const listed = await books.ledger.list({ projectId: project.id, runId, limit: 10 })
      expect(listed).toEqual([wanted])
    })
  })
}
