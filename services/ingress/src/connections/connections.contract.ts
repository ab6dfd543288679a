/** The behaviour that every implementation of the port Connections must have. `start` opens a fresh implementation with its store. */
import type { ConnectionDocument } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { PROVIDERS } from '@backstop/providers'
import { SIGNERS } from '@backstop/providers/test'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectionDocument } from '../../test/connection-documents.ts'
import type { Connections } from './connections.ts'
import { chooseCredentials } from './rules/credentials.ts'

export interface ConnectionsUnderTest {
  readonly connections: Connections
  /** Writes the document as admin-api does. */
  save(document: ConnectionDocument): Promise<void>
  /** Deletes the document. */
  remove(connectionId: string): Promise<void>
  stop(): Promise<void>
}

/** A new or rotated secret must be in use within 2 s. */
const WITHIN_2_S = { promisedMs: 2_000 }
const OLD = 'whsec_the-old-secret'
const NEW = 'whsec_the-new-secret'

export function describeConnections(name: string, open: () => Promise<ConnectionsUnderTest>): void {
  describe(`connections in ${name}`, () => {
    let subject: ConnectionsUnderTest
    beforeEach(async () => {
      subject = await open()
    })
    afterEach(() => subject.stop())
    const start = async () => {
      await subject.connections.start()
      await until('the first load', () => subject.connections.isLoaded())
    }
    /** Returns the secrets that are valid at the connection at that time. */
    const acceptedSecrets = (connectionId: string, secrets = [OLD, NEW], nowMs = Date.now()) => {
      const choice = chooseCredentials(subject.connections.find(connectionId), 'processor', nowMs)
      if (choice.kind === 'none') return choice.reason
      const body = Buffer.from('{}')
      return secrets.filter(secret => {
        const headerValues = [SIGNERS.processor.sign(body, [secret], nowMs)]
        return PROVIDERS.processor.authenticate({ headerValues, body, nowMs }, choice.credentials).kind === 'authentic'
      })
    }

    test('are unknown before they are loaded', async () => {
      await subject.save(connectionDocument('con_1', 'processor', [OLD]))
      expect(subject.connections.isLoaded()).toBe(false)
      expect(subject.connections.find('con_1')).toBeUndefined()
      expect(subject.connections.count()).toBe(0)
    })

    test('are known with project, kind and secrets once loaded', async () => {
      await subject.save(connectionDocument('con_1', 'processor', [OLD], { project_id: 'prj_1' }))
      await subject.save(
        connectionDocument('con_2', 'subscription', ['a-password-of-some-length'], { status: 'needs_setup' }),
      )
      await start()
      expect(subject.connections.find('con_1')).toMatchObject({
        connectionId: 'con_1',
        projectId: 'prj_1',
        provider: 'processor',
      })
      expect(acceptedSecrets('con_1')).toEqual([OLD])
      expect(subject.connections.find('con_2')).toMatchObject({ provider: 'subscription' })
      expect(subject.connections.find('con_3')).toBeUndefined()
      expect(subject.connections.count()).toBe(2)
    })

    test('are loaded even when there are none', async () => {
      await start()
      expect(subject.connections.count()).toBe(0)
    })

    test('are known within 2 s after they were created', async () => {
      await start()
      await subject.save(connectionDocument('con_new', 'processor', [NEW]))
      await until('the new connection', () => subject.connections.find('con_new') !== undefined, WITHIN_2_S)
      expect(acceptedSecrets('con_new')).toEqual([NEW])
    })

    test('accept a rotated secret within 2 s, and the old one until the overlap ends', async () => {
      await subject.save(connectionDocument('con_1', 'processor', [OLD]))
      await start()
      const expiresAt = new Date(Date.now() + 60_000)
      await subject.save(connectionDocument('con_1', 'processor', [NEW, { secret: OLD, expiresAt }], { version: 2 }))
      await until('the rotated secret', () => acceptedSecrets('con_1').length === 2, WITHIN_2_S)
      expect(acceptedSecrets('con_1', [OLD, NEW], expiresAt.getTime())).toEqual([NEW])
      await subject.save(connectionDocument('con_1', 'processor', [NEW], { version: 3 }))
      await until('the end of the old secret', () => acceptedSecrets('con_1').length === 1, WITHIN_2_S)
    })

    test.each(['marked deleted', 'removed'])('are unknown within 2 s after they were %s', async how => {
      await subject.save(connectionDocument('con_1', 'processor', [OLD]))
      await start()
      expect(acceptedSecrets('con_1')).toEqual([OLD])
      if (how === 'removed') await subject.remove('con_1')
      else await subject.save(connectionDocument('con_1', 'processor', [], { status: 'deleted', version: 2 }))
      await until('its end', () => subject.connections.find('con_1') === undefined, WITHIN_2_S)
    })

    test('are not loaded when they were deleted before', async () => {
      await subject.save(connectionDocument('con_1', 'processor', [OLD], { status: 'deleted' }))
      await start()
      expect(subject.connections.find('con_1')).toBeUndefined()
    })

    test('keep their other secrets if one cannot be opened', async () => {
      const [good] = connectionDocument('con_1', 'processor', [NEW]).inbound_secrets
      const [moved] = connectionDocument('con_other', 'processor', [OLD]).inbound_secrets
      const [blank] = connectionDocument('con_1', 'processor', ['']).inbound_secrets
      await subject.save(connectionDocument('con_1', 'processor', [], { inbound_secrets: [moved!, blank!, good!] }))
      await start()
      expect(acceptedSecrets('con_1')).toEqual([NEW])
    })

    test('without a readable secret authenticate nothing, and are known to have one', async () => {
      const [moved] = connectionDocument('con_other', 'processor', [OLD]).inbound_secrets
      await subject.save(connectionDocument('con_1', 'processor', [], { inbound_secrets: [moved!] }))
      await start()
      expect(acceptedSecrets('con_1')).toBe('no_usable_secret')
      expect(subject.connections.find('con_1')?.unusableUntilMs).toEqual([null])
    })
  })
}
