import { InboundEvent, unframe } from '@backstop/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type InboundFacts, inboundMessage } from './inbound-message.ts'

const facts: InboundFacts = {
  provider: 'processor',
  projectId: 'prj_1',
  connectionId: 'con_1',
  eventId: 'evt_1',
  eventType: 'refund.created',
  subject: 'pi_3P',
  receivedAtMs: Date.UTC(2026, 10, 21, 10, 0, 0, 5),
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
}
const jsonOf = (value: Buffer) => {
  const taken = unframe(value)
  if (taken.kind !== 'framed') throw new Error(taken.reason)
  return taken
}

describe('the message of an authentic event', () => {
  test('is the framed InboundEvent with the ids that ingress set', () => {
    const { schemaId, json } = jsonOf(inboundMessage(42, facts, Buffer.from('{"id":"evt_1"}')).value)
    expect(schemaId).toBe(42)
    expect(InboundEvent.parse(JSON.parse(json.toString()))).toEqual({
      provider: 'processor',
      project_id: 'prj_1',
      connection_id: 'con_1',
      event_id: 'evt_1',
      event_type: 'refund.created',
      received_at: '2026-11-21T10:00:00.005Z',
      body: { id: 'evt_1' },
    })
  })

  test('holds the body byte for byte: blanks, escapes and numbers beyond double precision included', () => {
    const body = Buffer.from(' {\n"a" : 1.00, "big":12345678901234567890, "e":"\\u00e9é" }\r\n')
    const { json } = jsonOf(inboundMessage(1, facts, body).value)
    expect(json.includes(body)).toBe(true)
    expect(json.toString().endsWith(`"body":${body.toString()}}`)).toBe(true)
  })

  test('reads back to the same body and the same ids, whatever they hold', () => {
    const id = fc.stringMatching(/^[\x21-\x7e]{1,255}$/)
    const body = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(id, id, body, (eventId, eventType, event) => {
        const text = JSON.stringify(event)
        const { json } = jsonOf(inboundMessage(1, { ...facts, eventId, eventType }, Buffer.from(text)).value)
        const read = JSON.parse(json.toString())
        expect(read).toMatchObject({ event_id: eventId, event_type: eventType, project_id: 'prj_1' })
        expect(read.body).toEqual(JSON.parse(text))
      }),
    )
  })

  test('cannot have its envelope overwritten by names in the body', () => {
    const { json } = jsonOf(inboundMessage(1, facts, Buffer.from('{"project_id":"prj_2","body":{}}')).value)
    expect(JSON.parse(json.toString())).toMatchObject({ project_id: 'prj_1', body: { project_id: 'prj_2' } })
  })

  test.each([
    { provider: 'processor', topic: 'inbound.processor' },
    { provider: 'reseller', topic: 'inbound.reseller' },
    { provider: 'subscription', topic: 'inbound.subscription' },
  ] as const)('goes to $topic for $provider', ({ provider, topic }) => {
    expect(inboundMessage(1, { ...facts, provider }, Buffer.from('{}')).topic).toBe(topic)
  })

  test('is keyed by project and subject, or by the event where it names none', () => {
    expect(inboundMessage(1, facts, Buffer.from('{}')).key).toBe('prj_1/pi_3P')
    expect(inboundMessage(1, { ...facts, subject: null }, Buffer.from('{}')).key).toBe('prj_1/evt_1')
  })

  test('carries event id, type, time and trace in its headers', () => {
    expect(inboundMessage(1, facts, Buffer.from('{}')).headers).toEqual({
      'x-message-id': expect.stringMatching(/^msg_[0-9a-z]{26}$/),
      event_id: 'evt_1',
      event_type: 'refund.created',
      received_at: '1795255200005',
      traceparent: facts.traceparent,
    })
  })

  test('has one id per event and connection, however often it is delivered', () => {
    const idOf = (changed: Partial<InboundFacts>) =>
      inboundMessage(1, { ...facts, ...changed }, Buffer.from('{}')).headers['x-message-id']
    expect(idOf({ receivedAtMs: 1, traceparent: 'other' })).toBe(idOf({}))
    expect(idOf({ eventId: 'evt_2' })).not.toBe(idOf({}))
    expect(idOf({ connectionId: 'con_2' })).not.toBe(idOf({}))
  })
})
