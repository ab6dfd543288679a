export { openMemoryBooks } from './memory-books.ts'
