import { createMemoryShelf } from '../src/store/memory-shelf.ts'
import { type Book, describeShelf } from './shelf.contract.ts'

describeShelf('memory', async () => createMemoryShelf<Book>(['hash']))
