import { type Book, describeCollection } from './collection.contract.ts'
import { createMemoryCollection } from './memory-collection.ts'

describeCollection('memory', async () => createMemoryCollection<Book>(['hash']))
