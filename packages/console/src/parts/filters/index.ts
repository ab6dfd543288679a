/** The filters of lists, which are in the URL. */
export {
  type DayRange,
  lastDays,
  monthOfRange,
  nameRange,
  quarterOf,
  rangeBefore,
  rangeOfMonth,
  yesterdayOf,
} from './day-range.ts'
export { FilterBar, optionsOf, SearchChoiceFilter } from './filter-bar.tsx'
export {
  actor,
  amounts,
  choice,
  connection,
  day,
  defineFilters,
  param,
  period,
  resourceChoice,
  searchChoice,
  text,
  useListFilters,
} from './filters.tsx'
export { monthOf, startOfDay } from './period.ts'
export { RangeFilter } from './range-filter.tsx'
export { useFilters } from './use-filters.ts'
