/** The filters of lists as declarations: each has its params in the URL, and its control above the list. */
import { Fragment, type ReactNode } from 'react'
import * as z from 'zod/mini'
import { useActorNames } from '../../api/actors.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { useProjectId } from '../page/use-route.ts'
import { AmountFilter, type Amounts } from './amount-filter.tsx'
import {
  ChoiceFilter,
  DayFilter,
  FilterBar,
  type Option,
  optionsOf,
  SearchChoiceFilter,
  TextFilter,
} from './filter-bar.tsx'
import { TimeFilter } from './time-filter.tsx'
import { type Params, useFilters, type Values } from './use-filters.ts'

interface ControlProps {
  readonly values: Readonly<Record<string, unknown>>
  change(changed: Readonly<Record<string, unknown>>): void
}

interface Filter<P extends Params = Params> {
  readonly params: P
  render(props: ControlProps): ReactNode
}
type ParamFilter<N extends string, V> = Filter<Readonly<Record<N, z.ZodMiniType<V>>>>

/** A filter of one param. */
function paramFilter<N extends string, V>(
  name: N,
  type: z.ZodMiniType<V>,
  control: (bound: { value: V | undefined; onChange: (value: V | undefined) => void }) => ReactNode,
): ParamFilter<N, V> {
  return {
    params: { [name]: type } as Record<N, z.ZodMiniType<V>>,
    render: ({ values, change }) =>
      control({ value: values[name] as V | undefined, onChange: value => change({ [name]: value }) }),
  }
}

/** A param that links set, without a control. */
export function param<const N extends string>(
  name: N,
  type: z.ZodMiniType<string> = z.string(),
): ParamFilter<N, string> {
  return paramFilter(name, type, () => null)
}

/** One of a few values, as a menu. */
export function choice<const N extends string, const V extends string>(
  name: N,
  label: string,
  options: readonly Option<V>[],
): ParamFilter<N, V> {
  return paramFilter(name, enumOf(options), bound => <ChoiceFilter label={label} options={options} {...bound} />)
}

/** One of many values, in which one can type. */
export function searchChoice<const N extends string, const V extends string>(
  name: N,
  label: string,
  options: readonly Option<V>[],
): ParamFilter<N, V> {
  return paramFilter(name, enumOf(options), bound => <SearchChoiceFilter label={label} options={options} {...bound} />)
}

function enumOf<V extends string>(options: readonly Option<V>[]): z.ZodMiniType<V> {
  return z.enum(options.map(({ value }) => value)) as unknown as z.ZodMiniType<V>
}

/** One of the things that the reader may see, by id. @param useOptions a hook with the things */
export function resourceChoice<const N extends string>(
  name: N,
  label: string,
  useOptions: () => readonly Option[],
  isSearched = false,
): ParamFilter<N, string> {
  const fixed = { label, useOptions, Choice: isSearched ? SearchChoiceFilter : ChoiceFilter }
  return paramFilter(name, z.string(), bound => <ThingFilter {...fixed} {...bound} />)
}

interface ThingProps {
  label: string
  useOptions: () => readonly Option[]
  Choice: typeof ChoiceFilter
  value: string | undefined
  onChange: (value: string | undefined) => void
}

function ThingFilter({ Choice, useOptions, ...bound }: ThingProps) {
  return <Choice options={useOptions()} {...bound} />
}

/** One of the connections of the open project. */
export const connection = resourceChoice('connection_id', 'Connection', () =>
  optionsOf(useConnectionNames(useProjectId())),
)

/** One of the actors of the open project. */
export const actor = resourceChoice('actor_id', 'Actor', () => optionsOf(useActorNames(useProjectId())), true)

/** Free text. */
export function text<const N extends string>(name: N, label: string, type: z.ZodMiniType<string> = z.string()) {
  return paramFilter(name, type, bound => <TextFilter label={label} {...bound} />)
}

const DAY = z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/))

/** A day of the reader's zone. */
export function day<const N extends string>(name: N, label: string) {
  return paramFilter(name, DAY, bound => <DayFilter label={label} {...bound} />)
}

const minorUnits = z.pipe(z.string().check(z.regex(/^\d{1,15}$/)), z.transform(Number)) as z.ZodMiniType<number>

/** A currency, and bounds in it. */
export const amounts: Filter<{
  currency: z.ZodMiniType<string>
  min_amount: typeof minorUnits
  max_amount: typeof minorUnits
}> = {
  params: { currency: z.string().check(z.regex(/^[a-z]{3}$/)), min_amount: minorUnits, max_amount: minorUnits },
  render({ values, change }) {
    const { currency, min_amount, max_amount } = values as Amounts
    return <AmountFilter value={{ currency, min_amount, max_amount }} onChange={amounts => change({ ...amounts })} />
  },
}

const timestamp = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)) as z.ZodMiniType<string>

/** The time between two params. */
export function period<const F extends string, const T extends string>(
  label: string,
  from: F,
  to: T,
): Filter<Readonly<Record<F | T, z.ZodMiniType<string>>>> {
  return {
    params: { [from]: timestamp, [to]: timestamp } as Record<F | T, z.ZodMiniType<string>>,
    render: ({ values, change }) => (
      <TimeFilter
        label={label}
        value={{ from: values[from] as string | undefined, to: values[to] as string | undefined }}
        onChange={chosen => change({ [from]: chosen.from, [to]: chosen.to })}
      />
    ),
  }
}

type Merged<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I extends Params) => void
  ? I
  : never

/** The filters of one list, in their order above it. */
export function defineFilters<const F extends readonly Filter[]>(...filters: F) {
  const params: Params = Object.assign({}, ...filters.map(filter => filter.params))
  return { params: params as Merged<F[number]['params']>, filters }
}

/** The filters of a list as ListPage takes them. */
export interface ListFilters<V = object> {
  /** The values that are set. */
  readonly values: V
  readonly isFiltered: boolean
  /** The controls above the list. */
  readonly bar: ReactNode
}

/**
 * The values of filters, which are in the URL, and their controls.
 * @param more further controls
 * @param end the buttons at the end of the line
 */
export function useListFilters<P extends Params>(
  { params, filters }: { params: P; filters: readonly Filter[] },
  { more, end }: { more?: ReactNode; end?: ReactNode } = {},
): ListFilters<Values<P>> & { change: ReturnType<typeof useFilters<P>>[1] } {
  const [values, change] = useFilters(params)
  const bar = (
    <FilterBar end={end}>
      {filters.map(({ params, render }) => (
        <Fragment key={Object.keys(params).join()}>
          {render({ values, change: change as ControlProps['change'] })}
        </Fragment>
      ))}
      {more}
    </FilterBar>
  )
  return { values, change, isFiltered: Object.keys(values).length > 0, bar }
}
