import { Aggregator } from 'mingo/aggregator'
import { Context, evalExpr } from 'mingo/core'
import { Lazy } from 'mingo/lazy'
import * as accumulator from 'mingo/operators/accumulator'
import * as expression from 'mingo/operators/expression'
import * as pipeline from 'mingo/operators/pipeline'
import * as projection from 'mingo/operators/projection'
import * as query from 'mingo/operators/query'
import { Query } from 'mingo/query'
import { BSON, type Document } from 'mongodb'
import { compareValues, type Order, sortDocuments } from './bson-order.ts'

type Evaluation = Parameters<typeof evalExpr>

/** mingo compares values of different kinds in another way than MongoDB, and lacks `$bsonSize`. */
const comparison =
  (isTrue: (difference: number) => boolean) =>
  (document: Evaluation[0], operands: Evaluation[1], options: Evaluation[2]) => {
    const [a, b] = evalExpr(document, operands, options) as unknown[]
    return isTrue(compareValues(a, b))
  }

/** The greatest of all values with the sign 1, the least with -1. Null and missing values do not count. */
const extreme = (sign: 1 | -1) => (documents: Document[], operand: Evaluation[1], options: Evaluation[2]) => {
  const values: readonly unknown[] = accumulator.$push(documents, operand, options as never)
  const known = values.filter(value => value !== null && value !== undefined)
  return known.toSorted((a, b) => sign * compareValues(b, a))[0] ?? null
}

/** All operators. */
export const context = Context.init({
  accumulator: Object.assign({}, accumulator, { $max: extreme(1), $min: extreme(-1) }) as never,
  pipeline: Object.assign({}, pipeline, {
    $sort: ((documents, order) =>
      documents.transform(all => Lazy(sortDocuments(all as Document[], order as Order)))) as typeof pipeline.$sort,
    $lookup: lookup,
  }),
  projection,
  query,
  expression: Object.assign({}, expression, {
    $bsonSize: bsonSize,
    $gt: comparison(difference => difference > 0),
    $gte: comparison(difference => difference >= 0),
    $lt: comparison(difference => difference < 0),
    $lte: comparison(difference => difference <= 0),
  }),
})

/** mingo ignores the fields of a join that also has a pipeline. */
function lookup(
  ...[documents, join, options]: Parameters<typeof pipeline.$lookup>
): ReturnType<typeof pipeline.$lookup> {
  const { localField, foreignField, pipeline: stages = [], from, as, ...rest } = join
  if (localField === undefined || foreignField === undefined || stages.length === 0)
    return pipeline.$lookup(documents, join, options)
  const equal = '__equal'
  const joined = pipeline.$lookup(documents, { ...rest, from, localField, foreignField, as: equal } as never, options)
  return joined.map(document => {
    const { [equal]: found, ...fields } = document as Document
    return { ...fields, [as]: new Aggregator([...stages], options).run(found as Document[]) }
  })
}

function bsonSize(...input: Evaluation): number | null {
  const value = evalExpr(...input)
  return value === null || value === undefined ? null : BSON.calculateObjectSize(value as Document)
}

// mingo copies the operators for each query and each update, which takes longer than the query itself.
const copyOf = Context.from
Context.from = (...contexts) => (contexts.length === 1 ? contexts[0]! : copyOf(...contexts))
for (const add of ['addExpressionOps', 'addQueryOps', 'addPipelineOps'] as const) context[add] = () => context

/** A filter, ready to be tested against documents. */
export function queryOf(filter: Readonly<Document>): Query<Document> {
  return new Query<Document>(filter as never, { context })
}

/** The fields of a document that a projection names, or all without those that it excludes. */
export function project(document: Document, projection: Document | undefined): Document {
  if (projection === undefined || Object.keys(projection).length === 0) return document
  const isPlain = Object.values(projection).every(value => [0, 1, true, false].includes(value))
  if (!isPlain)
    return (
      queryOf({})
        .find<Document>([document], projection as never)
        .all()[0] ?? {}
    )
  const { _id: id = 1, ...fields } = projection
  const isInclusion = Object.values(fields).some(Boolean) || (Object.keys(fields).length === 0 && Boolean(id))
  const paths = [...Object.keys(fields), ...(isInclusion === Boolean(id) ? ['_id'] : [])].map(path => path.split('.'))
  return isInclusion ? (included(document, paths) as Document) : (excluded(document, paths) as Document)
}

function included(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.some(path => path.length === 0)) return value
  if (Array.isArray(value)) return value.map(element => included(element, paths)).filter(one => one !== undefined)
  if (value === null || typeof value !== 'object') return undefined
  const kept = Object.entries(value).flatMap(([name, field]) => {
    const rest = paths.filter(path => path[0] === name).map(path => path.slice(1))
    const inner = rest.length === 0 ? undefined : included(field, rest)
    return inner === undefined ? [] : [[name, inner]]
  })
  return Object.fromEntries(kept)
}

function excluded(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (Array.isArray(value)) return value.map(element => excluded(element, paths))
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).flatMap(([name, field]) => {
    const rest = paths.filter(path => path[0] === name).map(path => path.slice(1))
    if (rest.some(path => path.length === 0)) return []
    return [[name, rest.length === 0 ? field : excluded(field, rest)]]
  })
  return Object.fromEntries(kept)
}

/** The result of a pipeline. @param collectionResolver the documents of another collection, for `$lookup` */
export function aggregate(
  documents: readonly Document[],
  pipeline: readonly Document[],
  collectionResolver: (name: string) => Document[] = () => [],
): Document[] {
  return new Aggregator([...pipeline], { collectionResolver, context }).run(documents as Document[]) as Document[]
}
