//! The places that mutants replace: expressions and function bodies.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, BinOp, Block, Expr, Meta, ReturnType, Signature, Stmt, Token, Type, TypeParamBound,
};

use crate::checkout::Checkout;
use crate::mutant::{Mutant, Origin};

/// The smallest expression, or else function body, around some mutants.
pub struct Site {
    /// The file.
    pub file: String,
    /// The bytes of it.
    pub range: Range<usize>,
    /// What stands there.
    pub kind: Kind,
    /// The number of its first mutant; the others follow.
    pub first: u32,
    /// Its mutants.
    pub mutants: Vec<Mutant>,
}

/// What stands at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An expression among others.
    Operand,
    /// An expression that is a statement, or ends a block.
    Statement,
    /// A function body.
    Body,
    /// A function body of which `impl Iterator` is returned.
    Iterator,
    /// Evaluated at compile time: there can be no switch.
    Constant,
}

/// Numbers all mutants, from 1, by file and site. Those of tests are none: cargo-mutants leaves out a module under `#[cfg(test)]`, and
/// not one whose condition has more to it.
pub fn of_mutants(checkout: &Checkout, mutants: Vec<Mutant>) -> Result<Vec<Site>, String> {
    let mut files: BTreeMap<String, Vec<Mutant>> = BTreeMap::new();
    for mutant in mutants {
        files.entry(mutant.file.clone()).or_default().push(mutant);
    }
    let (mut sites, mut first) = (Vec::new(), 1);
    for (file, mutants) in files {
        let source = checkout.read(&file)?;
        let found = Finder::of(&source).map_err(|error| format!("{file}: {error}"))?;
        let mut of_file: BTreeMap<_, (Kind, Vec<Mutant>)> = BTreeMap::new();
        for mut mutant in mutants {
            if mutant.origin != Origin::Hand && found.is_of_tests(&mutant.replaced) {
                continue;
            }
            if let Some((place, text)) = found.where_used(&source, &mutant) {
                (mutant.replaced, mutant.text) = (place, text);
            }
            let constant = || (mutant.replaced.clone(), Kind::Constant);
            let (range, kind) = found.smallest(&mutant).unwrap_or_else(constant);
            // A site comes after the ones around it.
            let key = (range.start, usize::MAX - range.end);
            let (_, inside) = of_file.entry(key).or_insert((kind, Vec::new()));
            inside.push(mutant);
        }
        for ((start, end), (kind, mutants)) in of_file {
            let count = mutants.len() as u32;
            sites.push(Site {
                file: file.clone(),
                range: start..usize::MAX - end,
                kind,
                first,
                mutants,
            });
            first += count;
        }
    }
    Ok(sites)
}

/// Collects what a `match` can take the place of.
#[derive(Default)]
struct Finder {
    found: Vec<(Range<usize>, Kind)>,
    /// Constants outside of traits and types: name, type and value.
    constants: Vec<(String, Range<usize>, Range<usize>)>,
    /// Names in expressions.
    names: Vec<(String, Range<usize>)>,
    /// Modules that are compiled for tests alone.
    tests: Vec<Range<usize>>,
}

impl Finder {
    fn of(source: &str) -> syn::Result<Self> {
        let mut finder = Self::default();
        finder.visit_file(&syn::parse_file(source)?);
        Ok(finder)
    }

    fn is_of_tests(&self, replaced: &Range<usize>) -> bool {
        self.tests.iter().any(|tests| contains(tests, replaced))
    }

    fn smallest(&self, mutant: &Mutant) -> Option<(Range<usize>, Kind)> {
        let of_function = mutant.origin == Origin::Function;
        let around = self.found.iter().filter(|(range, kind)| {
            contains(range, &mutant.replaced)
                && (!of_function || matches!(kind, Kind::Body | Kind::Iterator))
        });
        around.min_by_key(|(range, _)| range.len()).cloned()
    }

    /// Of a mutant of a constant that is used in one place: the place, and the changed constant to stand there.
    fn where_used(&self, source: &str, mutant: &Mutant) -> Option<(Range<usize>, String)> {
        let Range { start, end } = mutant.replaced;
        let mut constants = self.constants.iter();
        let (name, of, value) = constants.find(|(_, _, value)| contains(value, &(start..end)))?;
        let mut uses = self.names.iter().filter(|(used, _)| used == name);
        let (Some((_, place)), None) = (uses.next(), uses.next()) else {
            return None;
        };
        let (before, after) = (&source[value.start..start], &source[end..value.end]);
        let (of, text) = (&source[of.clone()], &mutant.text);
        let changed = format!("{{ const CHANGED: {of} = {before}{text}{after}; CHANGED }}");
        Some((place.clone(), changed))
    }
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

impl Finder {
    fn body(&mut self, signature: &Signature, body: &Block) {
        let kind = match &signature.output {
            ReturnType::Type(_, of) if is_iterator(of) => Kind::Iterator,
            _ => Kind::Body,
        };
        self.add(body.span(), kind);
        self.visit_block(body);
    }

    fn add(&mut self, span: Span, kind: Kind) {
        let range = span.byte_range();
        // A statement is visited as such first.
        if self.found.last().is_none_or(|(last, _)| *last != range) {
            self.found.push((range, kind));
        }
    }
}

// What is evaluated at compile time (constants, lengths, patterns, `const fn`) is not visited.
impl<'a> Visit<'a> for Finder {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if module.attrs.iter().any(is_for_tests) {
            self.tests.push(module.span().byte_range());
        } else {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        if function.sig.constness.is_none() {
            self.body(&function.sig, &function.block);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        if function.sig.constness.is_none() {
            self.body(&function.sig, &function.block);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'a syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.body(&function.sig, body);
        }
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::Expr(expression, None) = statement {
            self.add(expression.span(), Kind::Statement);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Path(path) = expression
            && let Some(name) = path.path.get_ident()
        {
            let place = path.span().byte_range();
            self.names.push((name.to_string(), place));
        }
        if !is_condition(expression) {
            self.add(expression.span(), Kind::Operand);
        }
        visit::visit_expr(self, expression);
    }

    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_item_const(&mut self, constant: &'a syn::ItemConst) {
        self.constants.push((
            constant.ident.to_string(),
            constant.ty.span().byte_range(),
            constant.expr.span().byte_range(),
        ));
    }

    fn visit_item_static(&mut self, _: &'a syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'a syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'a syn::ExprConst) {}
    fn visit_type(&mut self, _: &'a Type) {}
    fn visit_generic_argument(&mut self, _: &'a syn::GenericArgument) {}
    fn visit_pat(&mut self, _: &'a syn::Pat) {}
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
}

/// Whether it is `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_for_tests(attribute: &Attribute) -> bool {
    let Ok(list) = attribute.meta.require_list() else {
        return false;
    };
    let condition = list.parse_args::<Meta>();
    list.path.is_ident("cfg") && condition.is_ok_and(|condition| needs_test(&condition))
}

fn needs_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => {
            let all = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            all.is_ok_and(|all| all.iter().any(needs_test))
        }
        _ => false,
    }
}

/// Whether it holds a `let`, which only a condition may.
fn is_condition(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
            is_condition(&binary.left) || is_condition(&binary.right)
        }
        _ => false,
    }
}

fn is_iterator(of: &Type) -> bool {
    let Type::ImplTrait(of) = of else {
        return false;
    };
    of.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.iter().any(|s| s.ident == "Iterator"),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(replaced: Range<usize>) -> Mutant {
        Mutant {
            file: String::new(),
            about: String::new(),
            place: (1, 1),
            line: String::new(),
            replaced,
            text: "-".into(),
            origin: Origin::Expression,
        }
    }

    #[test]
    fn a_constant_is_changed_where_it_is_used() {
        let source = "const HALF: f64 = 1.0 / 2.0; fn f() -> f64 { 3.0 * HALF }";
        let start = source.find('/').unwrap();
        let found = Finder::of(source).unwrap();
        let (place, text) = found.where_used(source, &mutant(start..start + 1)).unwrap();
        assert_eq!(&source[place], "HALF");
        assert_eq!(text, "{ const CHANGED: f64 = 1.0 - 2.0; CHANGED }");
    }

    #[test]
    fn the_smallest_expression_around_a_change_is_found() {
        let source = "
            const N: usize = 1 + 1;
            fn f(x: f64) -> f64 {
                if let Some(y) = g(x) && y > 2.0 * x {
                    return [0.0; 3 - 1][0] - y;
                }
                x + 1.0
            }";
        let found = Finder::of(source).unwrap();
        let at = |text: &str| {
            let start = source.find(text).unwrap();
            let place = found.smallest(&mutant(start..start + text.len()));
            place.map(|(range, kind)| (&source[range], kind))
        };
        assert_eq!(at("* "), Some(("2.0 * x", Kind::Operand)));
        assert_eq!(at("> 2"), Some(("y > 2.0 * x", Kind::Operand)));
        assert!(at("&& ").is_some_and(|(text, _)| text.starts_with("if let")));
        assert_eq!(at("x + 1.0"), Some(("x + 1.0", Kind::Statement)));
        assert_eq!(at("3 - 1"), Some(("[0.0; 3 - 1]", Kind::Operand)));
        assert_eq!(at("1 + 1"), None);
    }

    #[test]
    fn what_is_compiled_for_tests_alone_is_not_changed() {
        let source = r#"
            #[cfg(test)] mod a { const A: f64 = 1.0; }
            #[cfg(all(feature = "flex", test))] mod b { const B: f64 = 2.0; }
            #[cfg(any(test, feature = "testing"))] mod c { const C: f64 = 3.0; }
            #[cfg(feature = "test")] mod d { const D: f64 = 4.0; }
            mod e { const E: f64 = 5.0; }"#;
        let found = Finder::of(source).unwrap();
        let of_tests = ["1.0", "2.0", "3.0", "4.0", "5.0"].map(|value| {
            let start = source.find(value).unwrap();
            found.is_of_tests(&(start..start + value.len()))
        });
        assert_eq!(of_tests, [true, true, false, false, false]);
    }
}
