export * from './fixtures.ts'
export * from './official-shapes.ts'
export * from './samples.ts'
export * from './scripted-smtp-server.ts'
