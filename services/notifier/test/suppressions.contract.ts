/** The suite that every suppression store passes, in memory and on MongoDB. */
import type { SuppressionDocument } from '@backstop/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { decideSuppression, suppressionId } from '../src/suppressed-addresses/rules/suppression.ts'
import type { SuppressionStore } from '../src/suppressed-addresses/suppression-store.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')

export function describeSuppressions(name: string, open: () => Promise<SuppressionStore>): void {
  describe(`${name}: suppressions`, () => {
    let store: SuppressionStore
    beforeEach(async () => {
      store = await open()
    })
    const entry = (address: string, kind: 'suppress' | 'soft_bounce', projectId = 'prj_1') => {
      const report =
        kind === 'suppress' ? { kind, reason: 'complaint' as const, detail: null } : { kind, detail: 'full' }
      const { next } = decideSuppression({ projectId, address }, null, report, NOW)
      return [suppressionId({ projectId, address }), next] as [string, SuppressionDocument]
    }

    test('are loaded, replaced and deleted', async () => {
      const [id, document] = entry('a@x.example', 'suppress')
      await store.save(new Map([[id, document]]))
      expect(await store.load([id, 'prj_1/unknown'])).toEqual(new Map([[id, document]]))
      await store.save(new Map([[id, { ...document, detail: 'more' }]]))
      expect((await store.load([id])).get(id)?.detail).toBe('more')
      await store.save(new Map([[id, null]]))
      expect(await store.load([id])).toEqual(new Map())
      await store.save(new Map())
    })
  })
}
