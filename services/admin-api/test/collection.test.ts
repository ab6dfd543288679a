import { createMongoCollection } from '../src/store/mongo-collection.ts'
import { type Book, describeCollection } from './collection.contract.ts'
import { createMemoryStores } from './memory-stores.ts'

describeCollection('simulated MongoDB', async () => createMongoCollection<Book>(createMemoryStores().db, 'api_keys'))
