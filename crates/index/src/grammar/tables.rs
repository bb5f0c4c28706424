//! A table per language: what its grammar calls the things we look for.
//!
//! Data and nothing else. A test asks each grammar for every name here, so that a renamed node shows at once.

#![cfg_attr(
    not(feature = "all-languages"),
    allow(unused_imports, dead_code, reason = "the words of languages that are left out")
)]

use loggia_domain::ReferenceKind::{Type, Value};
use loggia_domain::SymbolKind::{
    Class, Constant, Enum, EnumMember, Field, Function, Interface, Macro, Method, Module, Struct, Trait,
    TypeAlias, Variable,
};

use crate::grammar::Naming::{
    Declarator, FirstName, IfBody, Left, Name, Receiver, TypeSpec, Variable as Valued,
};
use crate::grammar::Table;
use crate::language::Language;

/// The grammar and the table of a language, if it is part of this build.
pub(crate) fn of(language: Language) -> Option<(tree_sitter::Language, &'static Table)> {
    let found = match language {
        #[cfg(feature = "rust")]
        Language::Rust => (tree_sitter_rust::LANGUAGE.into(), &RUST),
        #[cfg(feature = "python")]
        Language::Python => (tree_sitter_python::LANGUAGE.into(), &PYTHON),
        #[cfg(feature = "typescript")]
        Language::TypeScript => (tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), &TYPESCRIPT),
        #[cfg(feature = "typescript")]
        Language::Tsx => (tree_sitter_typescript::LANGUAGE_TSX.into(), &TSX),
        #[cfg(feature = "javascript")]
        Language::JavaScript => (tree_sitter_javascript::LANGUAGE.into(), &JAVASCRIPT),
        #[cfg(feature = "go")]
        Language::Go => (tree_sitter_go::LANGUAGE.into(), &GO),
        #[cfg(feature = "java")]
        Language::Java => (tree_sitter_java::LANGUAGE.into(), &JAVA),
        #[cfg(feature = "c")]
        Language::C => (tree_sitter_c::LANGUAGE.into(), &C),
        #[cfg(feature = "cpp")]
        Language::Cpp => (tree_sitter_cpp::LANGUAGE.into(), &CPP),
        #[cfg(feature = "csharp")]
        Language::CSharp => (tree_sitter_c_sharp::LANGUAGE.into(), &CSHARP),
        #[cfg(feature = "ruby")]
        Language::Ruby => (tree_sitter_ruby::LANGUAGE.into(), &RUBY),
        #[cfg(feature = "php")]
        Language::Php => (tree_sitter_php::LANGUAGE_PHP.into(), &PHP),
        #[cfg(feature = "bash")]
        Language::Bash => (tree_sitter_bash::LANGUAGE.into(), &BASH),
        _ => return None,
    };
    Some(found)
}

const EMPTY: Table = Table {
    definitions: &[],
    names: &[],
    call_names: &[],
    scopes: &[],
    imports: &[],
    types: &[],
    called: &[],
    calls: &[],
    members: &[],
};

#[cfg(feature = "rust")]
static RUST: Table = Table {
    definitions: &[
        ("function_item", Function, Name),
        ("function_signature_item", Function, Name),
        ("struct_item", Struct, Name),
        ("union_item", Struct, Name),
        ("enum_item", Enum, Name),
        ("enum_variant", EnumMember, Name),
        ("trait_item", Trait, Name),
        ("type_item", TypeAlias, Name),
        ("associated_type", TypeAlias, Name),
        ("mod_item", Module, Name),
        ("macro_definition", Macro, Name),
        ("const_item", Constant, Name),
        ("static_item", Constant, Name),
        ("field_declaration", Field, Name),
    ],
    names: &[
        ("identifier", Value),
        ("type_identifier", Type),
        ("field_identifier", Value),
        ("shorthand_field_identifier", Value),
    ],
    scopes: &["impl_item"],
    imports: &["use_declaration", "extern_crate_declaration"],
    calls: &[("call_expression", "function"), ("macro_invocation", "macro")],
    members: &[
        ("field_expression", "field"),
        ("scoped_identifier", "name"),
        ("generic_function", "function"),
    ],
    ..EMPTY
};

#[cfg(feature = "python")]
static PYTHON: Table = Table {
    definitions: &[
        ("function_definition", Function, Name),
        ("class_definition", Class, Name),
        ("assignment", Variable, Left),
    ],
    names: &[("identifier", Value)],
    imports: &["import_statement", "import_from_statement", "future_import_statement"],
    types: &["type"],
    called: &["decorator"],
    calls: &[("call", "function")],
    members: &[("attribute", "attribute")],
    ..EMPTY
};

#[cfg(any(feature = "typescript", feature = "javascript"))]
const SCRIPT: Table = Table {
    definitions: &[
        ("function_declaration", Function, Name),
        ("generator_function_declaration", Function, Name),
        ("class_declaration", Class, Name),
        ("method_definition", Method, Name),
        ("field_definition", Field, FirstName),
        ("variable_declarator", Variable, Valued),
    ],
    names: &[
        ("identifier", Value),
        ("property_identifier", Value),
        ("shorthand_property_identifier", Value),
        ("private_property_identifier", Value),
    ],
    imports: &["import_statement"],
    called: &["decorator"],
    calls: &[
        ("call_expression", "function"),
        ("new_expression", "constructor"),
        ("jsx_opening_element", "name"),
        ("jsx_self_closing_element", "name"),
    ],
    members: &[("member_expression", "property")],
    ..EMPTY
};

#[cfg(feature = "javascript")]
static JAVASCRIPT: Table = SCRIPT;

#[cfg(feature = "typescript")]
const TYPED: Table = Table {
    definitions: &[
        ("function_declaration", Function, Name),
        ("generator_function_declaration", Function, Name),
        ("function_signature", Function, Name),
        ("class_declaration", Class, Name),
        ("abstract_class_declaration", Class, Name),
        ("interface_declaration", Interface, Name),
        ("type_alias_declaration", TypeAlias, Name),
        ("enum_declaration", Enum, Name),
        ("enum_assignment", EnumMember, Name),
        ("method_definition", Method, Name),
        ("method_signature", Method, Name),
        ("abstract_method_signature", Method, Name),
        ("public_field_definition", Field, Name),
        ("property_signature", Field, Name),
        ("internal_module", Module, Name),
        ("module", Module, Name),
        ("variable_declarator", Variable, Valued),
    ],
    names: &[
        ("identifier", Value),
        ("type_identifier", Type),
        ("property_identifier", Value),
        ("shorthand_property_identifier", Value),
        ("private_property_identifier", Value),
    ],
    calls: &[("call_expression", "function"), ("new_expression", "constructor")],
    ..SCRIPT
};

#[cfg(feature = "typescript")]
static TYPESCRIPT: Table = TYPED;

#[cfg(feature = "typescript")]
static TSX: Table = Table { calls: SCRIPT.calls, ..TYPED };

#[cfg(feature = "go")]
static GO: Table = Table {
    definitions: &[
        ("function_declaration", Function, Name),
        ("method_declaration", Method, Receiver),
        ("method_elem", Method, Name),
        ("type_spec", TypeAlias, TypeSpec),
        ("type_alias", TypeAlias, Name),
        ("const_spec", Constant, Name),
        ("var_spec", Variable, Name),
        ("field_declaration", Field, Name),
    ],
    names: &[("identifier", Value), ("type_identifier", Type), ("field_identifier", Value)],
    imports: &["import_declaration"],
    calls: &[("call_expression", "function")],
    members: &[("selector_expression", "field")],
    ..EMPTY
};

#[cfg(feature = "java")]
static JAVA: Table = Table {
    definitions: &[
        ("class_declaration", Class, Name),
        ("record_declaration", Class, Name),
        ("interface_declaration", Interface, Name),
        ("annotation_type_declaration", Interface, Name),
        ("enum_declaration", Enum, Name),
        ("enum_constant", EnumMember, Name),
        ("method_declaration", Method, Name),
        ("constructor_declaration", Method, Name),
        ("variable_declarator", Field, Name),
    ],
    names: &[("identifier", Value), ("type_identifier", Type)],
    imports: &["import_declaration", "package_declaration"],
    calls: &[
        ("method_invocation", "name"),
        ("object_creation_expression", "type"),
        ("marker_annotation", "name"),
    ],
    ..EMPTY
};

#[cfg(feature = "c")]
static C: Table = Table {
    definitions: &[
        ("function_definition", Function, Declarator),
        ("declaration", Variable, Declarator),
        ("struct_specifier", Struct, IfBody),
        ("union_specifier", Struct, IfBody),
        ("enum_specifier", Enum, IfBody),
        ("enumerator", EnumMember, Name),
        ("type_definition", TypeAlias, Declarator),
        ("preproc_def", Macro, Name),
        ("preproc_function_def", Macro, Name),
        ("field_declaration", Field, Declarator),
    ],
    names: &[("identifier", Value), ("type_identifier", Type), ("field_identifier", Value)],
    imports: &["preproc_include"],
    calls: &[("call_expression", "function")],
    members: &[("field_expression", "field")],
    ..EMPTY
};

#[cfg(feature = "cpp")]
static CPP: Table = Table {
    definitions: &[
        ("function_definition", Function, Declarator),
        ("declaration", Variable, Declarator),
        ("class_specifier", Class, IfBody),
        ("struct_specifier", Struct, IfBody),
        ("union_specifier", Struct, IfBody),
        ("enum_specifier", Enum, IfBody),
        ("enumerator", EnumMember, Name),
        ("namespace_definition", Module, Name),
        ("alias_declaration", TypeAlias, Name),
        ("concept_definition", Interface, Name),
        ("type_definition", TypeAlias, Declarator),
        ("preproc_def", Macro, Name),
        ("preproc_function_def", Macro, Name),
        ("field_declaration", Field, Declarator),
    ],
    names: &[
        ("identifier", Value),
        ("type_identifier", Type),
        ("field_identifier", Value),
        ("namespace_identifier", Value),
    ],
    imports: &["preproc_include"],
    calls: &[("call_expression", "function")],
    members: &[
        ("field_expression", "field"),
        ("qualified_identifier", "name"),
        ("template_function", "name"),
    ],
    ..EMPTY
};

#[cfg(feature = "csharp")]
static CSHARP: Table = Table {
    definitions: &[
        ("class_declaration", Class, Name),
        ("record_declaration", Class, Name),
        ("struct_declaration", Struct, Name),
        ("interface_declaration", Interface, Name),
        ("enum_declaration", Enum, Name),
        ("enum_member_declaration", EnumMember, Name),
        ("method_declaration", Method, Name),
        ("constructor_declaration", Method, Name),
        ("local_function_statement", Function, Name),
        ("delegate_declaration", TypeAlias, Name),
        ("property_declaration", Field, Name),
        ("variable_declarator", Field, Name),
        ("namespace_declaration", Module, Name),
        ("file_scoped_namespace_declaration", Module, Name),
    ],
    names: &[("identifier", Value)],
    imports: &["using_directive"],
    types: &["base_list", "type_argument_list"],
    calls: &[
        ("invocation_expression", "function"),
        ("object_creation_expression", "type"),
        ("attribute", "name"),
    ],
    members: &[("member_access_expression", "name")],
    ..EMPTY
};

#[cfg(feature = "ruby")]
static RUBY: Table = Table {
    definitions: &[
        ("method", Function, Name),
        ("singleton_method", Function, Name),
        ("class", Class, Name),
        ("module", Module, Name),
        ("assignment", Constant, Left),
    ],
    names: &[("identifier", Value), ("constant", Type)],
    calls: &[("call", "method")],
    members: &[("scope_resolution", "name")],
    ..EMPTY
};

#[cfg(feature = "php")]
static PHP: Table = Table {
    definitions: &[
        ("function_definition", Function, Name),
        ("method_declaration", Method, Name),
        ("class_declaration", Class, Name),
        ("interface_declaration", Interface, Name),
        ("trait_declaration", Trait, Name),
        ("enum_declaration", Enum, Name),
        ("enum_case", EnumMember, Name),
        ("const_element", Constant, FirstName),
        ("property_element", Field, Name),
        ("namespace_definition", Module, Name),
    ],
    names: &[("name", Value)],
    imports: &["namespace_use_declaration"],
    types: &["named_type", "base_clause", "class_interface_clause"],
    called: &["object_creation_expression", "attribute"],
    calls: &[
        ("function_call_expression", "function"),
        ("member_call_expression", "name"),
        ("scoped_call_expression", "name"),
    ],
    ..EMPTY
};

#[cfg(feature = "bash")]
static BASH: Table = Table {
    definitions: &[("function_definition", Function, Name), ("variable_assignment", Variable, Name)],
    names: &[("variable_name", Value)],
    call_names: &["word"],
    called: &["command_name"],
    ..EMPTY
};
