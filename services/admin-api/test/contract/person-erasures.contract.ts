import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditOf, createTestKey, createTestProject, loseAnswer } from './test-project.ts'

const PERSON = { customer_id: 'cus_1', email: 'Ann@Canary.Example', provider: 'processor' as const }

export function describePersonErasures(testApi: () => TestApi): void {
  const api = () => testApi().api
  const open = async () => {
    const { projectId } = await createTestProject(api())
    return { projectId, path: `/v1/projects/${projectId}/person-erasures` }
  }
  const nothing = { cases: 0, actions: 0, bodies: 0, deliveries: 0 }

  describe('the erasure of a customer', () => {
    test('is requested, and no answer, no audit row and no stored answer names the customer', async () => {
      const { projectId, path } = await open()
      const asked = await api().post(path, PERSON, { 'idempotency-key': `erase-in-${projectId}` })
      expect(asked).toMatchObject({ status: 202 })
      expect(asked.body).toEqual({
        erasure_id: expect.stringMatching(/^era_/),
        project_id: projectId,
        state: 'requested',
        erased: nothing,
        requested_at: expect.any(String),
        finished_at: null,
      })
      const id = asked.body.erasure_id
      const shown = [await api().get(`${path}/${id}`), await api().get(path)]
      expect(shown.map(({ body }) => body)).toMatchObject([asked.body, { data: [asked.body] }])
      const rows = await auditOf(testApi(), id)
      expect(rows).toMatchObject([{ action: 'person_erasure.create', project_id: projectId }])
      const keys = await testApi().stores.idempotencyKeys.findAll({})
      expect(keys.length).toBeGreaterThan(0)
      expect(JSON.stringify([asked, shown, rows, keys])).not.toMatch(/canary|cus_1/i)
      const person = { ...PERSON, email: 'ann@canary.example' }
      expect(await testApi().stores.personErasures.find({ _id: id })).toMatchObject({ person })
    })

    test('shows its progress, and is done when both services are', async () => {
      const { projectId, path } = await open()
      const { erasure_id: _id } = (await api().post(path, PERSON)).body
      const show = async () => (await api().get(`${path}/${_id}`)).body
      const records = { _id, project_id: projectId, cursor: '', cases: 1, actions: 2, bodies: 3, finished_at: null }
      await testApi().others.erasures.put(records)
      expect(await show()).toMatchObject({ state: 'running', erased: { ...nothing, cases: 1, actions: 2, bodies: 3 } })
      await testApi().others.erasures.put({ ...records, finished_at: new Date(testApi().now()) })
      const deliveries = { _id, project_id: projectId, deliveries: 4, finished_at: null }
      await testApi().others.deliveryErasures.put(deliveries)
      expect(await show()).toMatchObject({ state: 'running', erased: { deliveries: 4 }, finished_at: null })
      const at = new Date(testApi().now() + 1)
      await testApi().others.deliveryErasures.put({ ...deliveries, finished_at: at })
      expect(await show()).toMatchObject({ state: 'done', finished_at: at.toISOString() })
    })

    test('that is repeated after a lost answer does not store the names again', async () => {
      const { path } = await open()
      const key = { 'idempotency-key': `lost-answer-of-${path}` }
      const { body } = await api().post(path, PERSON, key)
      await testApi().stores.personErasures.change({ _id: body.erasure_id }, { person: null })
      await loseAnswer(testApi(), key['idempotency-key'])
      expect((await api().post(path, PERSON, key)).body.erasure_id).toBe(body.erasure_id)
      expect(await testApi().stores.personErasures.find({ _id: body.erasure_id })).toMatchObject({ person: null })
    })

    test.each([
      {},
      { email: 'no address' },
      { email: 'a@b@c.test' },
      { email: '@c.test' },
      { email: 'a@b.test', provider: 'reseller' },
      { customer_id: '' },
      { email: 'a@b.test', name: 'Ann' },
    ])('is refused for %j', async body => {
      const { path } = await open()
      expect((await api().post(path, body)).status).toBe(400)
    })

    test.each(['müller@shop.example', 'o/x@shop.example', 'a#b@shop.example'])(
      'accepts the address %s',
      async email => {
        const { path } = await open()
        const { status, body } = await api().post(path, { email })
        expect(status).toBe(202)
        const stored = await testApi().stores.personErasures.find({ _id: body.erasure_id })
        expect(stored).toMatchObject({ person: { email } })
      },
    )

    test('needs the scope admin', async () => {
      const { projectId, path } = await open()
      const key = await createTestKey(api(), ['read', 'manage'], projectId)
      expect((await api().post(path, PERSON, { authorization: `Bearer ${key}` })).status).toBe(403)
    })
  })
}
