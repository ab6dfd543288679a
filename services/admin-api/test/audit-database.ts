import {
  type AuditChainDocument,
  type AuditDocument,
  type AuditVerification,
  COLLECTIONS,
  newId,
} from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createSecretBox, parseKeyRing, type SecretBox } from '@backstop/kit/secret-box'
import { type TestStack, testStack } from '@backstop/kit/test'
import type { Collection, Document, IndexDescription } from 'mongodb'
import { verifyAudit } from '../src/resources/audit/audit.ts'
import { type ChainStep, chainRows } from '../src/resources/audit/chain-rows.ts'
import { signAuditRows } from '../src/store/sign-audit-rows.ts'
import { type AdminStores, createMongoStores } from '../src/store/stores.ts'

const keyText = (fill: number) => Buffer.alloc(32, fill).toString('base64')
/** A secret box with keys of the given ids, the first one being primary. */
export const boxWith = (...ids: readonly number[]): SecretBox =>
  createSecretBox(parseKeyRing(new Secret(ids.map(id => `k${id}:${keyText(id)}`).join(','))))
export const boxOf = (id: string, fill: number): SecretBox =>
  createSecretBox(parseKeyRing(new Secret(`${id}:${keyText(fill)}`)))

/** One process that writes and chains audit rows: it remembers the head that it has seen. */
export interface AuditProcess {
  readonly stores: AdminStores
  readonly keys: SecretBox
  seen: AuditChainDocument | undefined
  /** Links all rows that may join. */
  chain(now?: Date): Promise<ChainStep>
  write(...rows: readonly Partial<AuditDocument>[]): Promise<AuditDocument[]>
  verify(query?: { from?: number; head?: string; now?: Date }): Promise<AuditVerification>
}

/** The audit in a database of its own. */
export interface AuditDatabase {
  readonly mongo: Mongo
  readonly audit: Collection<AuditDocument>
  readonly chain: Collection<AuditChainDocument>
  process(keys?: SecretBox): AuditProcess
  /** Removes everything. */
  empty(): Promise<void>
  /** @returns a function that restores the audit of this moment */
  remember(): Promise<() => Promise<void>>
  close(): Promise<void>
}

export async function openAuditDatabase(): Promise<AuditDatabase> {
  const stack: TestStack = await testStack()
  const mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backstop-test' })
  const audit = mongo.db.collection<AuditDocument>('audit')
  const chain = mongo.db.collection<AuditChainDocument>('audit_chain')
  await mongo.db.createCollection('audit_chain')
  await mongo.db.createCollection('projects')
  const definitions = COLLECTIONS.audit.indexes as readonly { keys: Document; options?: Document }[]
  // Without expiry, because these tests write rows of any age.
  const indexes = definitions.map(({ keys, options }) => ({ key: keys, ...options, expireAfterSeconds: undefined }))
  await audit.createIndexes(
    indexes.map(index =>
      Object.fromEntries(Object.entries(index).filter(([, value]) => value !== undefined)),
    ) as unknown as IndexDescription[],
  )
  return {
    mongo,
    audit,
    chain,
    process: (keys = boxWith(1)) => createProcess(mongo, keys),
    async empty() {
      await Promise.all([audit.deleteMany({}), chain.deleteMany({}), mongo.db.collection('projects').deleteMany({})])
    },
    async remember() {
      const [rows, heads] = [await audit.find().toArray(), await chain.find().toArray()]
      return async () => {
        await audit.deleteMany({})
        await chain.deleteMany({})
        await audit.insertMany(rows)
        await chain.insertMany(heads)
      }
    },
    async close() {
      await mongo.stop()
      await stack.close()
    },
  }
}

function createProcess(mongo: Mongo, keys: SecretBox): AuditProcess {
  const raw = createMongoStores(mongo.db)
  const stores = signAuditRows(raw, keys)
  const self: AuditProcess = {
    stores,
    keys,
    seen: undefined,
    async chain(now = new Date()) {
      for (;;) {
        const step = await chainRows({ stores: raw, keys, seen: self.seen, now, isComplete: true })
        if (step.head?.mac !== undefined) self.seen = step.head
        if (step.linked === 0) return step
        if (step.kind === 'broken' || (step.linked < 200 && step.kind === 'valid')) return step
      }
    },
    async write(...rows) {
      const written = rows.map((row, at) => makeRow({ target: `prj_${at}`, ...row }))
      for (const row of written) await stores.transaction(({ audit }) => audit.insert(row))
      return written
    },
    verify: ({ now = new Date(), ...query } = {}) => verifyAudit({ stores, keys, seen: self.seen, now }, query),
  }
  return self
}

export function makeRow(row: Partial<AuditDocument> = {}): AuditDocument {
  return {
    _id: newId('audit'),
    at: new Date(),
    key_id: 'key_1',
    actor: { kind: 'key', id: 'key_1', name: 'Admin' },
    session_id: null,
    action: 'project.change',
    target: 'prj_1',
    project_id: null,
    changes: [{ resource: 'prj_1', field: 'name', from: null, to: { b: 1, a: 2 } }],
    unchained: true,
    request_id: 'req_1',
    address: '192.0.2.1',
    ...row,
  }
}
