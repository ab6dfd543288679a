export * from './delay-line.ts'
