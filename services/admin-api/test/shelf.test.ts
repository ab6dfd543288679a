import { createMemoryShelf } from './memory-shelf.ts'
import { type Book, describeShelf } from './shelf.contract.ts'

describeShelf('memory', async () => createMemoryShelf<Book>(['hash']))
