/** The simulated MongoDB passes the contract tests of the stores that run on the real one. */
import { type ActionDocument, COLLECTIONS, type ConnectionDocument } from '@backstop/contracts'
import { openMongoBooks } from '@backstop/ledger'
import { describeApprovals } from '../../../packages/ledger/test/approvals.contract.ts'
import type { OpenTestBooks } from '../../../packages/ledger/test/books.ts'
import { describeBudgets } from '../../../packages/ledger/test/budgets.contract.ts'
import { describeLedger } from '../../../packages/ledger/test/ledger.contract.ts'
import { describeRuns } from '../../../packages/ledger/test/runs.contract.ts'
import { createMongoCollection } from '../../../services/admin-api/src/store/mongo-collection.ts'
import { describeCollection } from '../../../services/admin-api/test/collection.contract.ts'
import { openStores } from '../../../services/reconciler/src/stores.ts'
import { storeContract } from '../../../services/reconciler/test/store.contract.ts'
import { simulatedMongo } from './db.ts'
import { MongoServer } from './server.ts'
import { PERFECT_WIRE } from './wire.ts'

interface ProjectName {
  readonly _id: string
  readonly name: string
}

function open() {
  const server = new MongoServer(COLLECTIONS, { replicate: confirm => confirm() })
  return simulatedMongo(server, PERFECT_WIRE)
}

storeContract('in the simulated MongoDB', async () => {
  const mongo = open()
  const { db } = mongo
  return {
    ...openStores(mongo),
    listedAction: async id => (await db.collection<ActionDocument>('actions').findOne({ _id: id })) ?? undefined,
    async addConnection(connection, projectName) {
      await db.collection<ConnectionDocument>('connections').insertOne(connection)
      const { project_id: _id } = connection
      if (projectName !== null) await db.collection<ProjectName>('projects').insertOne({ _id, name: projectName })
    },
  }
})

const openBooks: OpenTestBooks = async options => {
  const { db } = open()
  return {
    ...openMongoBooks(db, options),
    async requireApproval(projectId, deadlineSeconds) {
      const at = new Date()
      const setting = { requires_approval: true, approval_deadline_seconds: deadlineSeconds }
      const project = { name: 'Shop', branding: {}, version: 1, created_at: at, updated_at: at }
      await db
        .collection<{ _id: string }>('projects')
        .replaceOne({ _id: projectId }, { ...project, ...setting }, { upsert: true })
    },
  }
}
describeLedger('simulated MongoDB', openBooks)
describeApprovals('simulated MongoDB', openBooks)
describeBudgets('simulated MongoDB', openBooks)
describeRuns('simulated MongoDB', openBooks)
describeCollection('simulated MongoDB', async () => createMongoCollection(open().db, 'api_keys'))
